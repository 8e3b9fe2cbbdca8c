#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
: >out
(trap '' HUP; exec "$OSHRUN" -n 2 "$PE" report=1 open gather=0 puts=ready sleeps=1 puts=alive close) >out 2>err &
started=$!
until_lines 2 ready
kill -HUP $started
finish
status 0
count 2 alive out
count 0 "signal" out
