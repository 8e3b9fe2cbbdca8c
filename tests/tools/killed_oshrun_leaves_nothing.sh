#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
kill_oshrun() { # a command of PEs that print "ready"
    start "$OSHRUN" -n 2 "$@"
    until_lines 2 ready
    { kill -9 $started; wait $started; } 2>/dev/null
    nothing_left_soon
}
kill_oshrun "$PE" open gather=0 puts=ready wait
# A PE learns it, and has time for its last words (its standard error led to oshrun).
kill_oshrun sh -c '"$0" "$@" 2>>words' "$PE" open gather=0 puts=ready wait
count 2 '^pe [01]: event failure status 1: oshrun is gone' words
kill_oshrun "$PE" ignore=15 ignore=1 puts=ready sleep=1000                               # not in the job, deaf
kill_oshrun sh -c '"$0" "$@"; echo "after"' "$PE" ignore=15 puts=ready sleep=1000        # a script between
kill_oshrun bash -c 'sleep 1000 & (sleep 1000; :) & "$0" "$@"; :' "$PE" open gather=0 puts=ready wait
kill_oshrun sh -c 'echo ready; kill -STOP $$'                                            # stopped
