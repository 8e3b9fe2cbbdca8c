#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
fake_orte
fake mpirun5 'mpirun (Open MPI) 5.0.3'
fake prterun 'prterun (PRRTE) 3.0.6'
fake srun $'MPI plugin types are...\n\tpmix\n\tnone'
fake mpiexec $'HYDRA build details:\n -pmi-port  -pmix'
export SHMEM_SYMMETRIC_SIZE=1G SMA_VERSION=1 POSTERN_FABRIC_PROVIDER='tcp;ofi_rxm' FI_LOG_LEVEL=warn LD_LIBRARY_PATH=/a:/b OTHER=1
options=(--hosts a,b:2 --tag-output --bind core --env "K=v 'w'" --env L=1 --engine-args "--one 'two three'" --dry-run ./program 'a b' "it's" '' '$x')
words="./program 'a b' 'it'\\''s' '' '\$x'"
set_env="env 'K=v '\\''w'\\''' L=1 "
# The order of variables is that of the environment.
names() { env | sed -n 's/^\(POSTERN_FABRIC_PROVIDER\|SHMEM_SYMMETRIC_SIZE\|SMA_VERSION\|FI_LOG_LEVEL\|LD_LIBRARY_PATH\)=.*/-x \1/p' | tr '\n' ' '; }
x="$(names)-x K -x L"

run_faked "$OSHRUN" --engine mpirun "${options[@]}"
shows "${set_env}mpirun$root --map-by slot --bind-to core --tag-output --host a:1,b:2 $x -n 3 --one 'two three' $words"
run_faked "$OSHRUN" --engine mpirun --rsh-agent /my/ssh --bind numa --hosts a --dry-run ./program
shows "mpirun$root --map-by slot --bind-to numa --mca plm_rsh_agent /my/ssh --host a:1 $(names)-n 1 ./program"

run_faked "$OSHRUN" --engine prterun "${options[@]}"
shows "${set_env}prterun$root --map-by slot --bind-to core --output tag --host a:1,b:2 $x -n 3 --one 'two three' $words"
run_faked "$OSHRUN" --engine prterun --rsh-agent /my/ssh --bind none --hosts a --dry-run ./program
shows "prterun$root --map-by slot --bind-to none --prtemca plm_ssh_agent /my/ssh --host a:1 $(names)-n 1 ./program"
run_faked "$OSHRUN" --engine "$work/engines/mpirun5" --rsh-agent /my/ssh --tag-output --hosts a --dry-run ./program
shows "$work/engines/mpirun5$root --map-by slot --output tag --prtemca plm_ssh_agent /my/ssh --host a:1 $(names)-n 1 ./program"

srun="srun --mpi=pmix --export=ALL --kill-on-bad-exit=1 --input=0"
run_faked "$OSHRUN" --engine srun "${options[@]}"
shows "${set_env}$srun --cpu-bind=cores --label --distribution=arbitrary --nodelist=a,b,b -n 3 --one 'two three' $words"
run_faked "$OSHRUN" --engine srun --bind numa -n 2 --dry-run ./program
shows "$srun --cpu-bind=ldoms -n 2 ./program"
run_faked "$OSHRUN" --engine srun --rsh-agent /my/ssh ./program
one_error 2 'rsh-agent cannot be used with srun'
run_faked "$OSHRUN" --engine srun --hosts '[fd00::1]' ./program
one_error 2 'srun takes names of nodes'

run_faked "$OSHRUN" --engine mpiexec "${options[@]}"
shows "${set_env}mpiexec -genvall -bind-to core -prepend-rank -hosts a:1,b:2 -n 3 --one 'two three' $words"
run_faked "$OSHRUN" --engine mpiexec --rsh-agent /my/ssh --dry-run ./program
shows "mpiexec -genvall -launcher-exec /my/ssh ./program"

# Without a number the engine decides; --timeout is the same for all.
run_faked "$OSHRUN" --engine mpirun --timeout 2.5 --dry-run ./program
shows "timeout --foreground --kill-after=10 2.5 mpirun$root --map-by slot $(names)./program"
run_faked "$OSHRUN" --engine mpirun --engine-args "--one 'two" ./program
one_error 2 'a quote is not closed'
run_faked "$OSHRUN" --engine mpirun --engine-args "a\\ b \"c'\\\"d\" '' e''f" --dry-run ./program
shows "mpirun$root --map-by slot $(names)'a b' 'c'\\''\"d' '' ef ./program"
