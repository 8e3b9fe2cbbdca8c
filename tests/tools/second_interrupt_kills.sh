#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
start "$OSHRUN" -n 2 "$PE" report=2 open gather=0 puts=ready sleeps=1000
until_lines 2 ready
kill -INT $started
until_lines 2 'signal 02'
kill -INT $started
finish
status 130
err_has 'the PEs are killed: signal 2 .* came again'
nothing_left
