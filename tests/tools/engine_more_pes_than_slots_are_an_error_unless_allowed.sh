#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
fake_orte
fake srun 'pmix'
run_faked "$OSHRUN" --hosts a,b:2 -n 4 ./program
one_error 2 'cannot start 4 PEs on 3 slots'
run_faked "$OSHRUN" --hosts localhost:2 -n 3 "$PE" exit=0
one_error 2 'cannot start 3 PEs on 2 slots'
run_faked "$OSHRUN" --hosts a,b:2 -n 3 --dry-run ./program
shows "mpirun$root --map-by slot --host a:1,b:2 -n 3 ./program"
run_faked "$OSHRUN" --hosts a,b:2 -n 1 --dry-run ./program
shows "mpirun$root --map-by slot --host a:1,b:2 -n 1 ./program"
run_faked "$OSHRUN" --hosts a,b:2 -n 4 --oversubscribe --dry-run ./program
shows "mpirun$root --map-by slot:OVERSUBSCRIBE --host a:1,b:2 -n 4 ./program"
run_faked "$OSHRUN" --hosts localhost:2 -n 3 --oversubscribe "$PE" open identity close
status 0
count 3 '^pe [0-2] of 3' out
# srun gets a place for each PE: hosts filled in order, then over again.
run_faked "$OSHRUN" --engine srun --hosts a,b:2 -n 5 --oversubscribe --dry-run ./program
status 0
out_has '--overcommit --distribution=arbitrary --nodelist=a,b,b,a,b -n 5 '
run_faked "$OSHRUN" --engine srun --hosts a,b:2 -n 2 --dry-run ./program
status 0
out_has '--distribution=arbitrary --nodelist=a,b -n 2 '
