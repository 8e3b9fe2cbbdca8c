#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
seq 1 100000 >numbers
"$OSHRUN" -n 3 "$PE" cat <numbers >out || fail "from a file"
cmp numbers out || fail "from a file"
cat numbers | "$OSHRUN" -n 3 "$PE" cat >out || fail "from a pipe"
cmp numbers out || fail "from a pipe"
# The others see end of file at once; PE 0 too where there is no input at all.
"$OSHRUN" -n 3 "$PE" cat puts=end <&- >out || fail "closed"
count 3 '^end$' out
