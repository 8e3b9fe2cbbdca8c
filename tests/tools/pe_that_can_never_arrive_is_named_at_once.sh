#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" deadline=1000 @1:exit=0 open gather=8 close
status 1
err_has 'PE 1 \(process [0-9]+\) has ended, and other PEs wait for it'
err_has 'why: its program has not called shmem_init'
run "$OSHRUN" -n 3 "$PE" deadline=1000 open gather=8 @1:close @1:exit=0 gather=8 close
status 1
err_has 'why: its program has called shmem_finalize'
nothing_left
# Its status is the job's, and is told once.
run "$OSHRUN" -n 3 "$PE" deadline=1000 open gather=8 @1:close @1:exit=6 gather=8 close
status 6
count 1 '^postern: ' err
nothing_left
