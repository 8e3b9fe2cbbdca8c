#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# examples/rdma_anatomy over the simulated device: each part shows what it is there to show, a seed replays exactly, and what is
# wrong with options or devices is said. ANATOMY: the program. SIMVERBS_LIB: the folder of the simulated libibverbs.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
skip() {
    echo "skipped: $*"
    exit 77
}
fail() {
    echo "FAIL: $*"
    head -c 4000 "$work/out"
    exit 1
}
[ -n "${ANATOMY-}" ] || skip "rdma_anatomy is not built here (package libibverbs-dev)"
[ -n "${SIMVERBS_LIB-}" ] || skip "the simulated device is not built here (tests/simverbs)"
unset SIMVERBS_FABRIC

# anatomy STATUS ARGUMENTS...: its output in the file out
anatomy() {
    local wanted=$1
    shift
    LD_LIBRARY_PATH="$SIMVERBS_LIB" timeout 100 "$ANATOMY" "$@" >"$work/out" 2>&1
    local status=$?
    [ $status = "$wanted" ] || fail "'rdma_anatomy $*' ends with $status, not $wanted"
}

# says PATTERN...: lines that match these are in the output, in this order
says() {
    local pattern from=1 line
    for pattern in "$@"; do
        line=$(tail -n +$from "$work/out" | grep -n -m1 -e "$pattern" | cut -d: -f1)
        [ -n "$line" ] || fail "no line with '$pattern' from line $from on"
        from=$((from + line))
    done
}

anatomy 0 --part 1
says 'A registers .*local key 0x.*remote key 0x' 'B registers' 'work request: RDMA WRITE' \
    ' 0 ns  A program  ibv_post_send' 'A device .*packet 1 leaves' 'A device .*packet 4 leaves' \
    ' 1020 ns  B device .*packet 1 arrives' 'B memory .*bytes 0 to 255 change' \
    'B memory .*bytes 768 to 999 change' 'B device .*an acknowledgement leaves' \
    ' 20[0-9]* ns  A device .*the acknowledgement arrives' 'A device .*writes a completion' 'A program .*ibv_poll_cq: number 7, success' \
    'B program .*ibv_poll_cq: nothing' 'All 1,000 bytes are right'
says 'B program  sees the last byte change' 'A program .*ibv_poll_cq'

# Columns: ordinary, relaxed memory, unordered network. The program itself ends with 1 if a cure lets one through.
anatomy 0 --part 2 --seeds 150
some='[1-9][0-9]*'
says "wrong: .*another queue pair  *$some  *$some  *$some *$" "wrong: .*last word.*  $some  *$some  *$some *$" \
    "cure 1: .*  0  *$some  *$some *$" 'cure 2: .*  0  *0  *0 *$' 'cure 3: .*  0  *0  *0 *$' 'The first one of all is seed [0-9]*:'
seed=$(sed -n 's/.*The first one of all is seed \([0-9]*\):.*/\1/p' "$work/out")
cp "$work/out" "$work/first"
anatomy 0 --part 2 --seeds 150
cmp -s "$work/first" "$work/out" || fail "the same seeds count otherwise the second time"

anatomy 0 --replay "$seed"
says 'queue pair 0 ' 'queue pair 1  the flag lands' "B  *sees the flag, and looks: $some of 4096 bytes are old" 'queue pair 0  bytes'
cp "$work/out" "$work/first"
anatomy 0 --replay "$seed"
cmp -s "$work/first" "$work/out" || fail "seed $seed is another one the second time"

# It ends with 1 if clock and formula differ by more than 2 %.
anatomy 0 --part 3
says '^  *1  *3\.2[0-9]  *3\.25' '^  *15  *48\.[0-9]*  *48\.75' '^  *16  *\(49\|50\)\.[0-9]*  *50\.00' '^  *24  *\(49\|50\)\.[0-9]*  *50\.00'
anatomy 0 --data --rtt 2000 --rate 100000 --bytes 8192 --depth 1
[ "$(grep -c '^2000' "$work/out")" = 24 ] || fail "no table of 24 rows"

anatomy 1 --device nobody
says 'could not open an RDMA device' 'why:' 'fix:'
anatomy 2 --depth none
says "cannot use 'none' for --depth" 'fix:'
anatomy 2 --part 4
anatomy 2 more
