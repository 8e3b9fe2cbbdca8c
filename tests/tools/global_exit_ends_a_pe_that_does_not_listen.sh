#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
# PE 1 has joined and left, so nothing in it waits for events.
run "$OSHRUN" -n 2 "$PE" ignore=15 open gather=0 @1:close @1:sleep=1000 abort=0
status 0
nothing_left
