#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Options that must agree and do not: all PEs refuse, with one message that names the odd PE. Options of one PE alone may differ.
. "${0%/*}/lib.sh"
odd() { echo "if [ \$POSTERN_PE = $1 ]; then export $2; fi; exec \"\$0\""; }
for setting in SHMEM_SYMMETRIC_SIZE=1M POSTERN_PAGES=small POSTERN_STATIC_DATA=0 POSTERN_TRANSPORTS=shm POSTERN_MEMBARRIER=0; do
    for pe in 0 2; do
        run "${JOB[@]}" -n 3 sh -c "$(odd $pe $setting)" "$RING"
        status 1
        count 1 'has other options than PE 0' err
        count 1 '^postern: ' err
        err_has 'fix: .*oshrun --env'
    done
done
for setting in POSTERN_LOG=error POSTERN_SPIN=5us POSTERN_CHECK=1 POSTERN_STATS=0 SHMEM_DEBUG_NOT=1; do
    ring_ok -n 3 sh -c "$(odd 1 $setting)" "$RING"
done
