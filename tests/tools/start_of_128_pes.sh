#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 128 "$PE" open gather=64 gather=4096 gather=0 close puts=done
status 0
count 128 '^done$' out
err_empty
nothing_left
