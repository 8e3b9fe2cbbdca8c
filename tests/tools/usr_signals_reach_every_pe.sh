#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
for signal in 10 12; do # USR1 USR2
    start "$OSHRUN" -n 3 "$PE" report=$signal open gather=0 puts=ready sleep=0.1 poll=signal close
    until_lines 3 ready
    kill -$signal $started
    until_lines 3 "signal $signal"
    finish
    status 0
done
# A script would die of them, so they go past it to the PE.
start "$OSHRUN" -n 2 sh -c '"$0" "$@"; echo "script $?"' "$PE" report=12 open gather=0 puts=ready poll=signal close
until_lines 2 ready
kill -USR2 $started
until_lines 2 'signal 12'
finish
status 0
count 2 '^script 0$' out
nothing_left
