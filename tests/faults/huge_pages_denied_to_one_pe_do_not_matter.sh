#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A PE may be denied transparent huge pages (prctl PR_SET_THP_DISABLE, as some containers and batch systems do) while others have them. The layout of the heap
# must not follow from what one PE sees: sizes that are no multiple of a huge page, and the odd PE first, in the middle, or the
# first PE the only one that has them.
. "${0%/*}/lib.sh"
denied='import ctypes, os, sys
PR_SET_THP_DISABLE = 41
if os.environ.get("POSTERN_PE") in sys.argv[1].split(","):
    if ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0: sys.exit(77)
os.execv(sys.argv[2], sys.argv[2:])'
POSTERN_PE=0 python3 -c "$denied" 0 /bin/true || skip "the kernel has no PR_SET_THP_DISABLE"
for bytes in 33558528 65536; do
    for who in 0 1 1,2; do
        SHMEM_SYMMETRIC_SIZE=$bytes ring_ok -n 3 python3 -c "$denied" $who "$RING"
    done
done
