#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Where the library has said why the job could not start, the exit statuses of the PEs are no news. They count, though.
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 5 "$PE" open gather=8 fail exit=1
status 1
err_empty
# Not so where a PE leaves in order, also after a start that failed before.
run "$OSHRUN" -n 2 "$PE" open gather=8 fail open gather=8 leaving=1 gather=8 close exit=3
status 3
count 2 'status' err
nothing_left
