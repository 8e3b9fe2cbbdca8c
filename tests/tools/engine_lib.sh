# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# For the tests of hand-overs to engines: PATH leads to a folder that holds what the test puts there, and nothing else.
. "${0%/*}/lib.sh"
tools_path=$PATH
mkdir engines
for name in $(compgen -e | grep -E '^(SLURM|POSTERN|SHMEM|SMA|FI|OMPI|PMIX|PRTE)'); do unset "$name"; done
unset LD_LIBRARY_PATH
root=
[ "$(id -u)" = 0 ] && root=' --allow-run-as-root' # what Open MPI wants of root, and oshrun adds

# fake NAME ANSWER [STATUS]: a program that answers ANSWER to --version, --help and --mpi=list, and otherwise tells its process, its
# arguments and the variables that matter here. Builtins only: nothing else is in PATH.
fake() {
    {
        echo '#!/bin/bash'
        printf 'case $1 in --version | --help | --mpi=list) echo %q; exit %s ;; esac\n' "$2" "${3-0}"
        cat <<'END'
echo "pid $$"
for word in "$@"; do printf 'arg %q\n' "$word"; done
for name in $(compgen -e); do [[ $name =~ ^(POSTERN|SHMEM|SMA|FI)_|^[A-Z]$ ]] && declare -p "$name"; done
exit 42
END
    } >"engines/$1"
    chmod +x "engines/$1"
}
fake_orte() { fake "${1-mpirun}" 'mpirun (Open MPI) 4.1.4'; }

# oshrun where only the fakes are.
run_faked() {
    PATH=$work/engines
    run_here "$@"
    PATH=$tools_path
}
# As run, but without the programs that are not in PATH now. A hang is ended by the limit of the test itself.
run_here() {
    command_run=$*
    "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
}
# shows COMMAND: --dry-run has printed this and nothing else.
shows() {
    status 0
    err_empty
    [ "$(cat "$work/out")" = "$1" ] || fail "the command is not: $1"
}
one_error() { # status, regex
    status "$1"
    err_has "$2"
    count 1 '^postern: ' err
    count 1 '^    fix: ' err
    [ ! -s "$work/out" ] || fail "something ran or was shown"
}
