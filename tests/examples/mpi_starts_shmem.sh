#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# examples/with_mpi under mpirun: MPI's processes become PEs by MPI's own allgather.
# WITH_MPI: the program, empty where there was no MPI to build it with.
set -u
[ -n "${WITH_MPI-}" ] || { echo "skipped: there is no MPI here to build examples/with_mpi with"; exit 77; }
command -v mpirun >/dev/null || { echo "skipped: there is no mpirun"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TMPDIR=$work # MPI keeps files there
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS=detect_leaks=0 # MPI's own
oversubscribe=
mpirun --version 2>/dev/null | grep -q "Open MPI" && oversubscribe=--oversubscribe
for npes in 1 2; do
    timeout -k 2 90 mpirun $oversubscribe -n $npes "$WITH_MPI" >"$work/out" 2>&1 </dev/null
    status=$?
    cat "$work/out"
    [ $status = 0 ] || { echo "FAIL: status $status with $npes PEs"; exit 1; }
    grep -q "with_mpi: $npes PEs, sum" "$work/out" || { echo "FAIL: another output with $npes PEs"; exit 1; }
done
