# SPDX-License-Identifier: Apache-2.0
#
# For the tests of oshcc and its sisters: a tree with a small library in place of libpostern, so that these tests need nothing else.
# The scripts come from the build tree (POSTERN_BIN).
set -u
: "${POSTERN_BIN:?folder with oshcc}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset CC CXX OSHCC OSHCXX
make_tree() { # folder
    mkdir -p "$1/bin" "$1/include" "$1/lib"
    cp "$POSTERN_BIN/oshcc" "$POSTERN_BIN/oshc++" "$POSTERN_BIN/oshcxx" "$1/bin" || exit 1
    printf '#ifdef __cplusplus\nextern "C"\n#endif\nint shmem_stand_in(void);\n' >"$1/include/shmem.h"
    echo 'int shmem_stand_in(void) { return 42; }' >stand_in.c
    cc -shared -fPIC -o "$1/lib/libpostern.so" stand_in.c || exit 1
    cc -c -o stand_in.o stand_in.c && ar rc "$1/lib/libpostern.a" stand_in.o || exit 1
}
printf '#include <shmem.h>\nint main(void) { return shmem_stand_in() == 42 ? 0 : 1; }\n' >'a program.c'
cp 'a program.c' program.cc
fail() {
    echo "FAIL: $*"
    exit 1
}
