#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" ignore=15 fork=1000 open gather=0 @1:raise=11 wait
status 139
nothing_left
run "$OSHRUN" -n 2 "$PE" fork=1000 open gather=0 @1:abort=0 wait
status 0
nothing_left
