#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
for signal in 1 2 3 15; do # HUP INT QUIT TERM
    start "$OSHRUN" -n 3 "$PE" open gather=0 puts=ready wait
    until_lines 3 ready
    kill -$signal $started
    finish
    status $((128 + signal))
    err_has "the job was ended by signal $signal"
    count 1 '^postern: ' err
    nothing_left
done
# A PE that handles the signal decides itself.
start "$OSHRUN" -n 2 "$PE" report=15 open gather=0 puts=ready poll=signal close
until_lines 2 ready
kill -TERM $started
finish
status 0
count 2 '^signal 15$' out
# What a PE started is in its group.
start "$OSHRUN" -n 2 sh -c 'sleep 1000 & echo ready; wait'
until_lines 2 ready
kill -TERM $started
finish
status 143
nothing_left
