#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# examples/unique_id and examples/over_tcp: the shell starts each process, no launcher does, and in any order. unique_id leaves no file.
# UNIQUE_ID and OVER_TCP: the programs.
set -u
work=$(mktemp -d)
pids=()
trap 'for pid in ${pids[@]+"${pids[@]}"}; do kill -9 $pid 2>/dev/null; done; rm -rf "$work"' EXIT
fail() {
    echo "FAIL: $*"
    head -c 2000 "$work"/out.* 2>/dev/null
    exit 1
}
# start N PROGRAM ARGUMENTS...: the process of rank N, its output in out.N
start() {
    local rank=$1
    shift
    timeout -k 1 60 "$@" >"$work/out.$rank" 2>&1 </dev/null &
    pids+=($!)
}
# all_end STATUS: wait for all that were started
all_end() {
    local pid status
    for pid in "${pids[@]}"; do
        wait "$pid"
        status=$?
        [ $status = "$1" ] || fail "a process ended with $status, not $1"
    done
    pids=()
}

for npes in 1 2 3; do
    for ((rank = npes - 1; rank >= 0; rank--)); do start $rank "$UNIQUE_ID" $rank $npes "$work/id"; done
    all_end 0
    grep -q "unique_id: $npes PEs, sum" "$work/out.0" || fail "unique_id with $npes PEs says something else"
    [ -z "$(ls "$work" | grep id)" ] || fail "unique_id has left a file"
done

for npes in 1 3; do
    start 0 "$OVER_TCP" 0 $npes 127.0.0.1 0
    port=
    for ((tries = 0; tries < 3000; tries++)); do
        port=$(sed -n 's/.*listening at port //p' "$work/out.0")
        [ -n "$port" ] && break
        sleep 0.02
    done
    [ -n "$port" ] || fail "over_tcp does not listen"
    for ((rank = 1; rank < npes; rank++)); do start $rank "$OVER_TCP" $rank $npes 127.0.0.1 "$port"; done
    all_end 0
    grep -q "over_tcp: $npes of $npes PEs are here" "$work/out.0" || fail "over_tcp with $npes PEs says something else"
done
