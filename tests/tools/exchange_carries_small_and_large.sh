#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 5 "$PE" open gather=0 gather=1 gather=8 gather=4096 gather=100000 gather=3000000 gather=0 gather=17 close
status 0
err_empty
