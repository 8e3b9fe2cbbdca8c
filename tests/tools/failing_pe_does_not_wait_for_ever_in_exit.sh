#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A program of start_pes that ends with a status other than 0 waits for the others in exit. If they go on, the job ends with that status.
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" open gather=8 @1:leaving=0,3 sleep=1000
status 3
count 1 '^postern: PE 1 \(process [0-9]+\) ends with status 3, and other PEs have not ended within 5 s after it' err
nothing_left
# They come a little later: that is in order, and the status counts.
run "$OSHRUN" -n 3 "$PE" open @1:leaving=0,3 @1:gather=8 @1:close @1:exit=3 sleep=0.5 leaving=0 gather=8 close puts=finished
status 3
count 2 '^finished$' out
