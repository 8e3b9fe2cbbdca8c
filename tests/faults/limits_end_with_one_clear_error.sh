#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B31: under a limit that is too low the job works without, or ends with a message and a status: never a signal. Each limit is lowered step by step, so
# that it is met at every place where start-up asks for something. With the heap alone, for one PE of two, and for a program started by hand.
# Spec: OpenSHMEM 1.6 §9.1.1 shmem_init
. "${0%/*}/lib.sh"
[ -z "${SANITIZE-}" ] || skip "sanitizers reserve address space of their own"
export SHMEM_SYMMETRIC_SIZE=16M
one() { echo "case \$POSTERN_PE in 1) $1 ;; esac; exec \"\$0\" \"\$@\""; }

refused=0 worked=0
try() { # LIMIT VALUE
    # Its messages through a pipe: the limit of file sizes holds for a file of messages too.
    ok_or_refused bash -c "set -o pipefail; (ulimit -$1 $2; exec \"\$0\") 2>&1 | cat >&2" "$RING"
    [ "$rc" = 0 ] && worked=$((worked + 1)) || refused=$((refused + 1))
    ok_or_refused "${JOB[@]}" -n 2 sh -c "ulimit -$1 $2; exec \"\$0\"" "$RING"
    ok_or_refused "${JOB[@]}" -n 2 sh -c "$(one "ulimit -$1 $2")" "$RING"
}
both() { [ $refused -gt 0 ] && [ $worked -gt 0 ] || fail "$1: refused $refused times, worked $worked times: the steps are not around the limit"; refused=0 worked=0; }
for value in 6 7 8 9 10 11 12 13 14 16 20; do try n $value; done
both "open files"
for mib in 12 20 24 28 32 40 48 64 128 512; do try v $((mib * 1024)); done
both "address space"
for blocks in 0 1 100 20000 200000; do try f $blocks; done
both "file size"

# Processes: root has no such limit, so as another user.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir open
    chmod 755 . open
    cp "$RING" open/ring
    cp "$OSHRUN" open/oshrun
    ldd "$RING" | sed -n 's/.*=> \(.*libpostern[^ ]*\) .*/\1/p' | xargs -I{} cp {} open/
    other_user() { ok_or_refused setpriv --reuid 65533 --regid 65533 --clear-groups env LD_LIBRARY_PATH="$PWD/open" "$@"; }
    for count in 0 1 2 3 4 5 8; do
        other_user bash -c "ulimit -u $count; exec \"\$0\"" "$PWD/open/ring"
        other_user "$PWD/open/oshrun" -n 2 bash -c "ulimit -u $count; exec \"\$0\"" "$PWD/open/ring"
        [ "$rc" = 0 ] && worked=$((worked + 1)) || refused=$((refused + 1))
    done
    both "processes"
fi
