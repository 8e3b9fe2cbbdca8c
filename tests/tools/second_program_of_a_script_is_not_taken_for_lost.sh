#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A script runs two programs one after the other, each of them the PE for a time. Where oshrun is held up (here: stopped) it learns of the end of the
# first and of the arrival of the second at once, and must not take the one for the other.
. "${0%/*}/lib.sh"
start "$OSHRUN" -n 1 sh -c '"$0" open gather=0 puts=first sleep=0.5 close; "$0" open "system=: >second" gather=0 sleep=1.2 close' "$PE"
until_lines 1 first
kill -STOP $started
until_true test -e second || fail "the second program has not begun"
kill -CONT $started
finish
status 0
err_empty
