#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
refused() {
    run env "$@" "$PE" open identity close
    status 3
    count 1 '^postern: ' err
    err_has 'cannot join the job of'
    err_has 'fix: .*oshrun'
    err_has "POSTERN_BOOTSTRAP=self"
    run env "$@" POSTERN_BOOTSTRAP=self "$PE" open identity close
    status 0
    run env "$@" "$OSHRUN" -n 2 "$PE" open identity gather=0 close # our own launcher goes before
    status 0
}
alone() {
    run env "$@" "$PE" open identity close
    status 0
    out_has '^pe 0 of 1'
    err_empty
}
refused OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=1 PMIX_RANK=1
refused OMPI_COMM_WORLD_RANK=0                  # incomplete
refused PMI_RANK=0 PMI_SIZE=2
refused PMI_SIZE=2
refused PMI_RANK=0 PMI_SIZE=many                # stale or broken
refused PMIX_RANK=0                             # says nothing of a size
refused SLURM_PROCID=2 SLURM_NTASKS=4
refused SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=3 SLURM_NTASKS=1
refused SLURM_PROCID=0
alone SLURM_PROCID=0 SLURM_NTASKS=1
alone SLURM_NTASKS=8                            # the shell of an allocation
alone OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0
alone PMI_RANK=0 PMI_SIZE=1
