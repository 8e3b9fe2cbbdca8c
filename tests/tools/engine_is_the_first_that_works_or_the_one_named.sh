#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
engine() { # which one is taken; arguments
    local want=$1
    shift
    run_faked "$OSHRUN" "$@" --dry-run ./program
    status 0
    out_has "^$want "
}
fake mpiexec $'HYDRA\npmix'
engine mpiexec --hosts a
fake mpirun $'HYDRA\nnothing more' # MPICH's, without PMIx: not taken
engine mpiexec --hosts a
fake_orte mpirun
engine mpirun --hosts a
fake prterun ''
engine prterun --hosts a
fake srun 'pmix_v4 pmix'
engine prterun --hosts a # no allocation
export SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2
engine srun
engine srun --hosts a
engine 'oshrun --engine local' --hosts localhost
engine 'oshrun --engine local' --engine local
fake srun none
engine prterun
unset SLURM_JOB_ID
engine 'oshrun --engine local'
engine mpirun --hosts a --engine mpirun
engine mpiexec --engine mpiexec
engine "$work/engines/mpirun" --engine "$work/engines/mpirun"
engine engines/mpirun --engine engines/mpirun
fake srun 'pmix_v5 none'
engine 'srun --mpi=pmix_v5' --engine srun
