#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: OpenSHMEM 1.6 §B.2 Running Programs
. "${0%/*}/engine_lib.sh"
fake_orte
export SHMEM_A="it's; \"x\",y \$z" POSTERN_PE=7 POSTERN_NPES=9 POSTERN_LOCAL_RANK=7 POSTERN_LOCAL_SIZE=9 POSTERN_BINDING=x
export POSTERN_OSHRUN=1:2:3 B=old
export PATH=$work/engines:$tools_path # start needs more than the fake
start "$OSHRUN" --engine mpirun --hosts a --env B=new --env C='d;e' ./program 'x  y' ''
finish
status 42
out_has "^pid $started\$" # the same process, so signals and input reach it
out_has '^arg x\\ \\ y$'
out_has "^arg ''\$"
out_has '^declare -x SHMEM_A="it'"'"'s; \\"x\\",y \\\$z"$'
out_has '^declare -x B="new"$'
out_has '^declare -x C="d;e"$'
for name in SHMEM_A B C; do count 1 "^arg $name\$" out; done
# The marks of an oshrun around it are gone.
for name in POSTERN_PE POSTERN_NPES POSTERN_LOCAL_RANK POSTERN_LOCAL_SIZE POSTERN_BINDING POSTERN_OSHRUN; do
    ! grep -q "$name" out || fail "$name is passed on"
done
# What --dry-run shows does the same.
told() { grep -v '^pid ' out; }
told >first
run "$OSHRUN" --engine mpirun --hosts a --env B=new --env C='d;e' --dry-run ./program 'x  y' ''
status 0
cp out command
run bash ./command
status 42
told | diff first - >difference || { cat difference; fail "--dry-run shows another command"; }
nothing_left
