#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# With the real mpirun of Open MPI: what was passed arrives, and status and input are as they should be.
# Spec: OpenSHMEM 1.6 §B.2 Running Programs
. "${0%/*}/engine_lib.sh"
mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "skipped: no Open MPI (apt install openmpi-bin)"; exit 77; }
export SHMEM_A="it's; \"x\",y \$z"
job() { run "$OSHRUN" --engine mpirun --hosts localhost:3 "$@"; }
job --env B='d;e,f' sh -c 'echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE: $SHMEM_A $B"'
status 0
for pe in 0 1 2; do out_has "^$pe of 3: it's; \"x\",y \\\$z d;e,f\$"; done
job -n 2 sh -c 'exit 7'
status 7
command_run="input"
echo hello | timeout -k 1 60 "$OSHRUN" --engine mpirun --hosts localhost:3 cat >out 2>err
rc=$?
status 0
count 1 '^hello$' out
nothing_left_soon
