#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
# oshrun learns at once that PE 1 was killed and that PE 0 gave up because of that.
start "$OSHRUN" -n 3 "$PE" report=10 open gather=0 puts=ready '@0:poll=signal' '@0:abort=9,PE 1 does not answer' wait
until_lines 3 ready
first=$(pid_of_pe 0)
second=$(pid_of_pe 1)
kill -STOP $started
kill -9 "$second"
kill -USR1 "$first"
until_true has_state "$first" Z || fail "PE 0 has not ended"
kill -CONT $started
finish
status 137
count 1 '^postern: ' err
err_has "^postern: PE 1 \\(process $second\\) was ended by signal 9"
nothing_left
