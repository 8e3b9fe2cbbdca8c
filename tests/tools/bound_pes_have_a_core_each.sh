#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
[ "$(nproc)" -ge 2 ] || { echo "one processor only"; exit 77; }
cores=$(for c in /sys/devices/system/cpu/cpu*/topology/thread_siblings_list; do cat "$c"; done | sort -u | wc -l)
[ "$cores" -ge 2 ] || { echo "one core only"; exit 77; }
run "$OSHRUN" -n 2 "$PE" cpus env=POSTERN_BINDING
status 0
[ "$(grep '^cpus' out | tr ' ' '\n' | grep -v cpus | sort | uniq -d)" = "" ] || fail "two PEs share a processor"
count 2 '^POSTERN_BINDING=core \(cpus [0-9,-]+; node [0-9]+\)$' out
run "$OSHRUN" -n 2 --bind none "$PE" env=POSTERN_BINDING
count 2 '^POSTERN_BINDING=none \(--bind none\)$' out
run "$OSHRUN" -n 2 --bind numa "$PE" env=POSTERN_BINDING
count 2 '^POSTERN_BINDING=numa \(cpus [0-9,-]+; node [0-9]+\)$' out
# Only what we may use ourselves.
one=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')
run taskset -c "$one" "$OSHRUN" -n 1 --bind core "$PE" cpus
count 1 "^cpus $one$" out
