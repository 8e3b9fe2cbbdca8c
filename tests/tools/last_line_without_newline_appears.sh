#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 1 "$PE" print=prompt
[ "$(cat out; echo .)" = "prompt." ] || fail "not passed as it is"
run "$OSHRUN" -n 3 "$PE" print=end
[ "$(grep -c '^end$' out)" = 3 ] || fail "three ends"
run "$OSHRUN" -n 3 --tag-output "$PE" print=end
for pe in 0 1 2; do count 1 "^\[$pe\] end$" out; done
