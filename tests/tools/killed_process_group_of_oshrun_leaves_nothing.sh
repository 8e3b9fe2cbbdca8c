#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
# As a batch system or timeout -s KILL does it.
start setsid "$OSHRUN" -n 2 sh -c '"$0" "$@"; :' "$PE" ignore=15 puts=ready sleep=1000
until_lines 2 ready
kill -9 -- -$started || fail "no such group"
nothing_left_soon
