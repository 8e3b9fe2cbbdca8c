#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# In an allocation of a real Slurm, which is started for this test: what was passed arrives, and status and input are as they should be.
# Spec: OpenSHMEM 1.6 §B.2 Running Programs
. "${0%/*}/engine_lib.sh"
slurm=${0%/*}/../cluster/slurm.sh
"$slurm" check || exit $?
cat >script <<'END'
set -u
"$OSHRUN" --env B='d;e,f' sh -c 'echo "$SLURM_PROCID of $SLURM_NTASKS on $SLURMD_NODENAME: $SHMEM_A $B"'
echo "status $?"
# One PE: with a second one, srun ends that one as soon as the first fails, and the highest status (143) is then its own.
"$OSHRUN" -n 1 sh -c 'exit 7' 2>/dev/null
echo "status $?"
echo hello | "$OSHRUN" cat
"$OSHRUN" --hosts pn2:2,pn1 sh -c 'echo "place $SLURM_PROCID $SLURMD_NODENAME"'
END
export OSHRUN SHMEM_A="it's; \"x\",y \$z"
command_run="salloc in a Slurm of our own" # a busy machine starts it slowly: the guard of run would be too short
timeout -k 5 150 "$slurm" run -- salloc --quiet --nodes=2 --ntasks-per-node=2 bash ./script >out 2>err </dev/null
rc=$?
status 0
for place in '0 of 4 on pn1' '1 of 4 on pn1' '2 of 4 on pn2' '3 of 4 on pn2'; do out_has "^$place: it's; \"x\",y \\\$z d;e,f\$"; done
count 1 '^status 0$' out
count 1 '^status 7$' out
count 1 '^hello$' out
for place in '0 pn2' '1 pn2' '2 pn1'; do out_has "^place $place\$"; done
nothing_left
