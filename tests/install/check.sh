#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# check.sh NAME: one check of an installation of the build in $BUILD into a folder of its own.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
: "${BUILD:?}" "${CMAKE:?}" "${CC:?}" "${LIBDIR:?}"
# Nothing of the caller's shall help to find the library.
unset LD_LIBRARY_PATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH CPATH LIBRARY_PATH

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

fail() {
    echo "check: $*" >&2
    exit 1
}

# As grep -q, but reads all of its input: a command whose reader leaves early dies, and pipefail would call that a failure.
has() { grep "$@" >/dev/null; }

install_here() { "$CMAKE" --install "$BUILD" --prefix "$prefix" >"$work/install.log" || { cat "$work/install.log"; exit 1; }; }

# run_it PROGRAM: two PEs by the installed launcher; both must say that the static variable was right.
run_it() {
    local output
    output=$("$prefix/bin/oshrun" -n 2 --timeout 60 "$1") || fail "exit status $? of $1"
    [ "$(sort <<<"$output")" = "PE 0 of 2: right
PE 1 of 2: right" ] || fail "$1 printed: $output"
}

by_oshcc() {
    "$prefix/bin/oshcc" "$here/program.c" -o "$work/by-oshcc" "$@"
    run_it "$work/by-oshcc"
}

by_pkg_config() {
    command -v pkg-config >/dev/null || { echo "skipped: pkg-config is not installed"; exit 77; }
    export PKG_CONFIG_PATH=$prefix/$1/pkgconfig
    # shellcheck disable=SC2046 # words
    "$CC" "$here/program.c" -o "$work/by-pkg-config" $(pkg-config --cflags --libs postern) \
        -Wl,-rpath,"$(pkg-config --variable=libdir postern)"
    run_it "$work/by-pkg-config"
    # shellcheck disable=SC2046 # words
    "$CC" -static "$here/program.c" -o "$work/by-pkg-config-static" $(pkg-config --static --cflags --libs postern) 2>"$work/log" ||
        { cat "$work/log"; exit 1; }
    run_it "$work/by-pkg-config-static"
}

by_cmake() {
    rm -rf "$work/user" "$work/user-build"
    mkdir -p "$work/user"
    cp "$here/program.c" "$work/user/"
    cat >"$work/user/CMakeLists.txt" <<'USER'
cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(postern 0.1 REQUIRED)
add_executable(shared program.c)
target_link_libraries(shared PRIVATE postern::postern)
add_executable(with_archive program.c)
target_link_libraries(with_archive PRIVATE postern::postern_static)
USER
    "$CMAKE" -S "$work/user" -B "$work/user-build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" >"$work/log" ||
        { cat "$work/log"; exit 1; }
    "$CMAKE" --build "$work/user-build" >"$work/log" || { cat "$work/log"; exit 1; }
    run_it "$work/user-build/shared"
    run_it "$work/user-build/with_archive"
    readelf -d "$work/user-build/shared" | has 'NEEDED.*libpostern\.so\.0\]' || fail "the program does not ask for libpostern.so.0"
    readelf -d "$work/user-build/with_archive" | has libpostern && fail "the static library was not used"
    return 0
}

case $1 in
cmake_finds_the_package)
    install_here
    by_cmake
    ;;
pkg_config_finds_the_package)
    install_here
    by_pkg_config "$LIBDIR"
    ;;
oshcc_builds_a_program)
    install_here
    by_oshcc
    ;;
oshcc_static_builds_a_program)
    install_here
    for kind in -static -static-pie; do
        by_oshcc "$kind" 2>"$work/said" || { cat "$work/said"; exit 1; }
        [ ! -s "$work/said" ] || fail "$kind is not silent: $(cat "$work/said")"
        readelf -l "$work/by-oshcc" | has INTERP && fail "the program of $kind is not static"
        # With a RUNPATH, the C library's own start of a static-pie program may die.
        readelf -d "$work/by-oshcc" 2>/dev/null | has -E 'RUNPATH|RPATH' && fail "the program of $kind has a RUNPATH"
    done
    true
    ;;
nvcc_builds_a_program)
    nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc) || { echo "skipped: there is no nvcc"; exit 77; }
    install_here
    export PKG_CONFIG_PATH=$prefix/$LIBDIR/pkgconfig
    # shellcheck disable=SC2046 # words
    "$nvcc" "$here/program.cu" -o "$work/by-nvcc" $(pkg-config --cflags --libs postern) 2>"$work/said" || { cat "$work/said"; exit 1; }
    [ ! -s "$work/said" ] || fail "nvcc is not silent: $(cat "$work/said")"
    if LD_LIBRARY_PATH=$prefix/$LIBDIR "$prefix/bin/oshrun" -n 2 --timeout 60 "$work/by-nvcc" >"$work/said" 2>&1; then
        [ "$(sort "$work/said")" = "PE 0 of 2 was told 1
PE 1 of 2 was told 0" ] || fail "the kernels told: $(cat "$work/said")"
    else
        # Most machines that build this have no GPU. Then the job starts and says so; a kernel does not.
        has -E '^postern: PE [01]: .*kernels' "$work/said" && has 'no GPU can be used' "$work/said" &&
            has 'the kernel failed: ' "$work/said" || fail "without a GPU it says: $(cat "$work/said")"
    fi
    ;;
oshcxx_builds_a_program)
    install_here
    command -v c++ >/dev/null || { echo "skipped: there is no C++ compiler"; exit 77; }
    cp "$here/program.c" "$work/program.cc"
    for wrapper in oshcxx oshc++; do
        "$prefix/bin/$wrapper" "$work/program.cc" -o "$work/by-$wrapper"
        run_it "$work/by-$wrapper"
    done
    ;;
tree_can_be_moved)
    install_here
    mv "$prefix" "$work/elsewhere with a space"
    mkdir "$work/deep"
    mv "$work/elsewhere with a space" "$work/deep/moved"
    prefix=$work/deep/moved
    by_oshcc
    by_oshcc -static
    by_pkg_config "$LIBDIR"
    by_cmake
    grep -rlF "$work/prefix" "$prefix" && fail "these files name the first place"
    "$prefix/bin/postern-info" >/dev/null
    "$prefix/bin/postern-doctor" --version >/dev/null
    "$prefix/bin/postern-bench" --help >/dev/null
    ;;
multiarch_library_folder_works)
    # As a distribution configures it. A build of its own, because the folder is chosen at configure time.
    folder=lib/$("$CC" -print-multiarch 2>/dev/null || true)
    "$CMAKE" -S "$here/../.." -B "$work/build" -DCMAKE_C_COMPILER="$CC" -DPOSTERN_TESTS=OFF -DPOSTERN_EXAMPLES=OFF \
        -DCMAKE_INSTALL_LIBDIR="${folder%/}" >"$work/log" || { cat "$work/log"; exit 1; }
    "$CMAKE" --build "$work/build" -j 2 >"$work/log" || { cat "$work/log"; exit 1; }
    BUILD=$work/build install_here
    by_oshcc
    by_oshcc -static
    by_pkg_config "${folder%/}"
    by_cmake
    ;;
ours_beside_open_mpi)
    theirs=$(command -v oshcc.openmpi || command -v oshcc || true)
    [ -n "$theirs" ] && [[ $("$theirs" --showme 2>/dev/null) == *-loshmem* ]] ||
        { echo "skipped: Open MPI's oshcc is not installed (libopenmpi-dev)"; exit 77; }
    install_here
    "$prefix/bin/oshcc" -M "$here/program.c" | has -F "$(realpath "$prefix")/include/shmem.h" ||
        fail "our oshcc does not pick our shmem.h"
    by_oshcc
    ldd "$work/by-oshcc" | has liboshmem && fail "our oshcc has linked Open MPI's library"
    ldd "$work/by-oshcc" | has -F "$prefix/$LIBDIR/libpostern.so.0" || fail "our oshcc has not linked our library"
    # PATH alone decides.
    [ "$(PATH=$prefix/bin:$PATH command -v oshrun)" = "$prefix/bin/oshrun" ] || fail "PATH does not pick our oshrun"
    # And theirs still builds for itself.
    "$theirs" "$here/program.c" -o "$work/theirs"
    ldd "$work/theirs" | has liboshmem || fail "Open MPI's oshcc no longer links its own library"
    ;;
uninstall_leaves_nothing)
    install_here
    [ -e "$prefix/include/shmem.h" ] || fail "nothing was installed"
    "$CMAKE" --build "$BUILD" --target uninstall >"$work/log" || { cat "$work/log"; exit 1; }
    left=$(find "$prefix" -not -type d)
    [ -z "$left" ] || fail "left behind: $left"
    left=$(find "$prefix" -type d \( -name '*postern*' -o -name shmem -o -name mpp \))
    [ -z "$left" ] || fail "folders left behind: $left"
    ;;
*)
    fail "unknown check: $1"
    ;;
esac
