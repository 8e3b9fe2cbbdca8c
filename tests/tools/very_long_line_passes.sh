#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 1 "$PE" lines=3,6000000
status 0
[ "$(tr -d 'a\n' <out | wc -c)" = 0 ] && [ "$(wc -lc <out | tr -s ' ')" = " 3 18000003" ] || fail "bytes are lost: $(wc -lc <out)"
