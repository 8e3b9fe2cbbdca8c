#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
# As "killall -9 oshrun" does: the guard must not be among them.
start "$OSHRUN" -n 2 sh -c '"$0" "$@"; :' "$PE" ignore=15 puts=ready sleep=1000
until_lines 2 ready
for pid in $(marked); do
    [ "$(cat "/proc/$pid/comm")" = "$(basename "$OSHRUN")" ] && kill -9 "$pid"
done
gone $started || until_true gone $started
nothing_left_soon
