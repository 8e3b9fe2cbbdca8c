#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One program, MPI and SHMEM, under the launcher of that MPI: both use PMIx, and begin and end in any order. (Open MPI 5 must
# begin first and not end before: its MPI_Init does not work in a process that uses PMIx already, and its PMIx cannot begin twice.)
# Spec: OpenSHMEM 1.6 §D.1.1 Initialization
. "${0%/*}/lib.sh"
[ "$ENGINE" = srun ] && skip "Debian's MPI and Slurm are tried by tests/cluster"
mpicc=$(dirname "$engine")/mpicc
[ -x "$mpicc" ] || skip "there is no $mpicc"
"$mpicc" -DWITH_MPI -I "$here/../../include" -o "$work/pe_mpi" "$here/pe.c" "${LIBPOSTERN:?}" \
    "-Wl,-rpath,$(dirname "$LIBPOSTERN")" >"$work/out" 2>&1 || fail "mpicc"
orders=("mpi_init init ring mpi_barrier ring finalize mpi_finalize"
    "mpi_init init ring mpi_barrier mpi_finalize ring finalize")
[ "$ENGINE" = mpirun ] && orders+=("init mpi_init ring mpi_barrier ring mpi_finalize finalize"
    "init mpi_init ring finalize mpi_barrier mpi_finalize"
    "init ring finalize mpi_init mpi_barrier mpi_finalize"
    "mpi_init mpi_finalize init ring finalize")
for order in "${orders[@]}"; do
    # shellcheck disable=SC2086
    run_program 2 "$work/pe_mpi" $order say=done
    status 0
    count 2 'done of PE'
done
run_program 2 "$work/pe_mpi" mpi_init init barrier @1:global=6 wait
status 6
nothing_left
