#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
timeout 60 "$OSHRUN" -n 2 "$PE" lines=30000,100 | { sleep 1; cat; } >out
[ "$(wc -lc <out | tr -s ' ')" = " 60000 6060000" ] || fail "$(wc -lc <out)"
exit 0
