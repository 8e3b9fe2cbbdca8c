#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Of the PEs of a machine one reads the limits of the control groups, for all that are in the same ones. A PE in a group of its own reads too, and
# the job's heaps fit into its limit. Without the right to make a group: skipped.
. "${0%/*}/lib.sh"
program="$POSTERN_BIN/postern-bench"
[ -x "$program" ] || skip "there is no $program"
group=
for try in /sys/fs/cgroup/memory/postern-test-$$:limit_in_bytes /sys/fs/cgroup/postern-test-$$:max; do
    mkdir "${try%:*}" 2>/dev/null || continue
    echo $((96 << 20)) 2>/dev/null >"${try%:*}/memory.${try#*:}" && group=${try%:*} && break
    rmdir "${try%:*}"
done
[ -n "$group" ] || skip "no control group can be made here"
heap_of_job() { # PE that goes into the group
    run "$OSHRUN" -n 3 --env POSTERN_REPORT=1 sh -c '
        [ "$POSTERN_PE" != "$1" ] || echo $$ >"$2/cgroup.procs" || exit 9
        exec "$0" collective --samples 3 --sizes 8:8' "$program" "$1" "$group"
    heap_mib=$(sed -n 's/.*heap of \([0-9]*\) MiB per PE.*/\1/p' "$work/err")
}
heap_of_job none
without=$heap_mib status=$rc
heap_of_job 1
until_true rmdir "$group"
[ "$status" = 0 ] && [ "$rc" = 0 ] || fail "the jobs ended with $status and $rc"
[ "${without:-0}" -gt 32 ] || skip "the machine has hardly more memory than the group would have"
[ "${heap_mib:-99999}" -le 32 ] || fail "the heap has $heap_mib MiB, and one of 3 PEs may have 96 MiB together with nobody else"
