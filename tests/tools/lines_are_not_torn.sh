#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
for bytes in 10 300 5000 100000; do
    lines=$((400000 / bytes + 20))
    timeout 60 "$OSHRUN" -n 6 "$PE" lines=$lines,$bytes | cat >out
    # Every line is one letter only, of the full length; every PE has all its lines.
    awk -v bytes=$bytes -v lines=$lines '
        { c = substr($0, 1, 1); if (length($0) != bytes) bad++; rest = $0; gsub(c, "", rest); if (rest != "") bad++; n[c]++ }
        END { for (c in n) { pes++; if (n[c] != lines) bad++ } exit !(bad == 0 && pes == 6) }' out || fail "torn or lost lines of $bytes bytes"
done
# Standard output and error in one pipe, with a reader so slow that lines are written in pieces.
timeout 60 "$OSHRUN" -n 3 sh -c '"$0" lines=60,20000 & "$0" lines=60,20000 >&2; wait' "$PE" 2>&1 | (sleep 0.5; cat) >out
awk 'length($0) != 20000 { bad++ } END { exit bad || NR != 360 }' out || fail "torn lines of two streams"
exit 0
