#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
own=$(uname -n)
for hosts in localhost:3 localhost,localhost,localhost 127.0.0.1:3 "$own:3" "${own%%.*}:2,localhost"; do
    run_faked "$OSHRUN" --hosts "$hosts" --tag-output "$PE" open identity close
    status 0
    count 3 '^\[[0-9]\] pe [0-2] of 3' out
done
printf 'localhost slots=4\n' >file
run_faked "$OSHRUN" --hosts file -n 2 "$PE" open identity close
status 0
count 2 '^pe [01] of 2' out
# What is for an engine only is not dropped in silence.
run_faked "$OSHRUN" --hosts localhost --engine-args --verbose "$PE" exit=0
status 0
err_has '--engine-args is not used'
run_faked "$OSHRUN" --hosts localhost:2 --tag-output --bind none --timeout 9.5 --env A='b c' --dry-run "$PE" 'x y'
shows "oshrun --engine local -n 2 --tag-output --timeout 9.5 --bind none --env 'A=b c' $PE 'x y'"
# One that is elsewhere, and nothing is here.
run_faked "$OSHRUN" --hosts localhost,elsewhere.invalid "$PE" exit=0
one_error 1 'no launcher'
