#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 --timeout 1 "$PE" open gather=0 wait
status 124
count 1 '^postern: the job has not ended within 1 s \(--timeout\)' err
for pe in 0 1 2; do # asked what they wait for, before they are killed; on a slow machine one is still in its exchange
    err_has "^pe $pe: (event failure status 124|allgather: Connection reset)"
done
run "$OSHRUN" -n 2 --timeout 0.3 sleep 1000
status 124
run "$OSHRUN" -n 2 --timeout 100 "$PE" open close
status 0
nothing_left
