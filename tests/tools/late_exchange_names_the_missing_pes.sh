#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 6 "$PE" deadline=0.5 @3:sleep=1000 open @5:sleep=1000 try=8 sleep=2 exit=4 # all four ask, one says it
status 4
count 1 'PE 3, 5 have not arrived within 0.5 s' err
err_has 'why: PE 3 has not called shmem_init .*; PE 5 is in the job, but not in this exchange'
run "$OSHRUN" -n 3 "$PE" deadline=0.5 @2:sleep=1000 open try=8 fail exit=4
status 4
count 1 'PE 2 has not arrived within 0.5 s' err
count 1 'could not start and exited with status 4; the PEs that still run are ended' err
run "$OSHRUN" -n 3 "$PE" deadline=30 @2:sleep=0.5 open gather=8 close # late, but in time
status 0
nothing_left
