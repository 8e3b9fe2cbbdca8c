#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 2 sh -c 'sleep 1000 & echo started' # they hold the pipe of the output
status 0
count 2 started out
