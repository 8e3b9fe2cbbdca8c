#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B46: a program started by hand is a job of 1 PE. With another launcher's marks it would be one of several jobs of 1 PE, silently: so it is an error.
. "${0%/*}/lib.sh"
run "$RING"
status 0
err_empty
for marks in "OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4" "PMI_RANK=0 PMI_SIZE=4" "PMIX_RANK=2" "SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=4" "PMI_RANK=" "OMPI_COMM_WORLD_SIZE=4"; do
    run env $marks "$RING"
    status 1
    err_has 'cannot join the job of'
    err_has 'fix: .*oshrun'
    run env $marks POSTERN_BOOTSTRAP=self "$RING"
    status 0
    err_empty
done
run env PMI_RANK=0 PMI_SIZE=1 "$RING" # one process: no doubt
status 0
# Four copies by a launcher that we do not speak to: each refuses.
for rank in 0 1 2 3; do
    run env PMI_RANK=$rank PMI_SIZE=4 PMI_FD=7 "$RING"
    status 1
done
ring_ok --env PMI_RANK=0 --env PMI_SIZE=4 -n 2 "$RING" # within oshrun they do not matter
