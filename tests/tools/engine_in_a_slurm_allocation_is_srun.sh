#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
fake srun pmix
srun="srun --mpi=pmix --export=ALL --kill-on-bad-exit=1 --input=0"
shown() { # the command; variables; -- arguments
    local want=$1 set=()
    shift
    while [ "$1" != -- ]; do
        set+=("$1")
        shift
    done
    shift
    env=$(command -v env)
    run_faked "$env" "${set[@]}" "$OSHRUN" "$@" --dry-run ./program
    shows "$want"
}
two=(SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=2 SLURM_NTASKS=4)
one=(SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=1 SLURM_NTASKS=4)
# salloc: the shell runs where it was called, whatever the allocation is.
shown "$srun ./program" "${two[@]}" --
shown "$srun -n 3 ./program" "${two[@]}" -- -n 3
shown "$srun ./program" "${one[@]}" --
shown "$srun ./program" SLURM_JOBID=5 SLURM_NNODES=2 -- # as older versions call it
# A script of sbatch runs on the first machine of the allocation.
shown "$srun ./program" "${two[@]}" SLURMD_NODENAME=n1 --
shown "oshrun --engine local -n 4 ./program" "${one[@]}" SLURMD_NODENAME=n1 --
shown "oshrun --engine local -n 2 ./program" "${one[@]}" SLURMD_NODENAME=n1 -- -n 2
shown "oshrun --engine local -n 1 ./program" SLURM_JOB_ID=5 SLURM_JOB_NUM_NODES=1 SLURMD_NODENAME=n1 --
shown "$srun -n 2 ./program" "${one[@]}" SLURMD_NODENAME=n1 -- -n 2 --engine srun
# In a step of one task (srun --pty bash) srun must not wait for the step around it.
shown "$srun --overlap -n 4 ./program" "${two[@]}" SLURMD_NODENAME=n1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=1 -- -n 4
# Tasks of a step with several: each means a job of its own.
shown "oshrun --engine local -n 1 ./program" "${two[@]}" SLURMD_NODENAME=n1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 --
shown "oshrun --engine local -n 1 ./program" "${two[@]}" -- --engine local
