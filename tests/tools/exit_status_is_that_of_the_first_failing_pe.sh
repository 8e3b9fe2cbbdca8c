#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 4 "$PE" open gather=8 close
status 0
err_empty
run "$OSHRUN" -n 4 "$PE" open gather=8 @2:exit=7 wait
status 7
count 1 '^postern: PE 2 \(process [0-9]+\) exited with status 7 without shmem_finalize' err
run "$OSHRUN" -n 2 sh -c 'exit 5' # never joins
status 5
err_has 'exited with status 5$'
nothing_left
