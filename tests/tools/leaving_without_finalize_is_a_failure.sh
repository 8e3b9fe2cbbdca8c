#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" open gather=8 @1:_exit=0 wait
status 1
err_has 'PE 1 \(process [0-9]+\) ended without shmem_finalize'
err_has 'fix: call shmem_finalize'
# A job in which nobody is left to wait is no failure.
run "$OSHRUN" -n 3 "$PE" open gather=8 _exit=0
status 0
nothing_left
