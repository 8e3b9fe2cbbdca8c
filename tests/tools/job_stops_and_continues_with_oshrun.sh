#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
start "$OSHRUN" -n 2 "$PE" report=10 open gather=0 puts=ready poll=signal close
until_lines 2 ready
first=$(pid_of_pe 0)
kill -TSTP $started
until_true has_state $started T || fail "oshrun has not stopped"
until_true has_state "$first" T || fail "PE 0 has not stopped"
kill -CONT $started
until_true has_state "$first" S || fail "PE 0 has not continued"
kill -USR1 $started
finish
status 0
