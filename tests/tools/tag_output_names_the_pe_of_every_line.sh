#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 --tag-output "$PE" puts=one puts= lines=50,20 eputs=error
status 0
for pe in 0 1 2; do
    count 1 "^\[$pe\] one$" out
    count 1 "^\[$pe\] $" out
    count 1 "^\[$pe\] error$" err
done
count 156 '^\[[0-2]\] ' out
count 50 '^\[1\] b{20}$' out
[ "$(wc -l <out)" = 156 ] || fail "lines without a tag"
