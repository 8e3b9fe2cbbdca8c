#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
start "$OSHRUN" -n 2 "$PE" ignore=15 open gather=0 puts=ready sleep=1000
until_lines 2 ready
kill -TERM $started
finish
status 143
err_has 'the PEs are killed: they have not ended within 5 s after signal 15'
nothing_left
