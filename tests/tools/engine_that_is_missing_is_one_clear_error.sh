#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
run_faked "$OSHRUN" --hosts a ./program
one_error 1 'no launcher'
for word in 'prterun: it is not in PATH' 'mpirun: it is not in PATH' 'mpiexec: it is not in PATH' openmpi-bin PRRTE; do err_has "$word"; done
err_lacks srun
SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 run_faked "$OSHRUN" ./program
one_error 1 'no launcher.*|nodes of this Slurm allocation'
for word in 'srun: it is not in PATH' 'mpirun: it is not in PATH' slurm-wlm-basic-plugins; do err_has "$word"; done
# Those that are there and cannot do it are named with the reason.
fake mpirun 'HYDRA build details'
fake mpiexec 'Intel(R) MPI Library'
fake mpiexec.hydra 'mpirun (Open MPI) 3.1.2'
fake srun $'\tnone\n\tpmi2\n\tcray_pmixed'
SLURM_JOB_ID=1 SLURM_JOB_NUM_NODES=2 run_faked "$OSHRUN" ./program
one_error 1 'no launcher'
err_has "mpirun: it is MPICH's, which does not speak PMIx"
err_has 'mpiexec: its --version tells neither'
err_has 'mpiexec.hydra: it is Open MPI before version 4'
err_has 'srun: this Slurm has no pmix plugin'
fake srun 'error: no configuration' 1
run_faked "$OSHRUN" --engine srun ./program
one_error 1 'srun --mpi=list" fails'
for engine in prterun orterun ./engines/none; do
    run_faked "$OSHRUN" --engine "$engine" ./program
    one_error 1 "cannot hand the job over to $engine"
done
run_faked "$OSHRUN" --engine ssh ./program
one_error 2 '--engine takes local, prterun, mpirun, srun, mpiexec .*not "ssh"'
# A file that cannot be executed is no engine.
echo >engines/prterun
run_faked "$OSHRUN" --hosts a ./program
err_has 'prterun: it is not in PATH'
