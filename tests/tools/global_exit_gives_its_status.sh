#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
for status in 0 1 42 255; do
    run "$OSHRUN" -n 4 "$PE" open gather=8 @3:sleep=0.1 @3:abort=$status wait
    status $status
    count 3 "^pe [012]: event end status $status: PE 3 called shmem_global_exit" err
    err_lacks '^postern:'
done
run "$OSHRUN" -n 4 "$PE" open gather=8 @0:abort=21 @3:abort=22 wait # two at once: one of them
[ "$rc" = 21 ] || [ "$rc" = 22 ] || fail "status is $rc"
run "$OSHRUN" -n 2 "$PE" open gather=8 @1:abort=0 ignore=15 sleep=1000 # PE 0 listens in its thread only
status 0
nothing_left
