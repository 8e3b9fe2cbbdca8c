#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# gpu-test from its begin to its end, with kernels on CPU threads: what it would do on a GPU it does here, so that on the day it does not fail
# for reasons of its own.
set -euo pipefail
build=$1 out=$2
command -v c++ >/dev/null || { echo "skipped: there is no C++ compiler"; exit 77; }
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$out"

fail() { echo "wrong: $1" >&2; exit 1; }

# The measurements, and one example: all of it takes too long here.
"$here/gpu-test" --on-cpu --build "$build" --out "$out" --only bench
[ "$(awk -F '\t' '$3 == "ok"' "$out/runs.tsv" | wc -l)" = 4 ] || fail "not all four measurements ran"
for row in raw_copy_kernel put_blocks put_one_block put_warp put_thread host_put raw_store long_p put_signal_ping_pong; do
    for run in bench bench-proxy; do
        grep -q "^$run	2	$row	" "$out/rows.tsv" || fail "$run has no row $row"
    done
done
grep -q "A REHEARSAL ON CPU THREADS" "$out/results.txt" || fail "the text does not say that it is a rehearsal"
grep -q "block put of .* of a copy kernel" "$out/results.txt" || fail "the text has no ratios"
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
data = json.load(open(sys.argv[1]))
assert data["on_cpu"] is True and len(data["runs"]) == 4 and len(data["rows"]) > 30, data["runs"]' "$out/results.json" || fail "the JSON is wrong"
fi

# A program that fails is a failure of the whole, with its log named.
mkdir -p "$out/build/bin" && ln -sf "$build/lib" "$out/build/lib" && ln -sf "$build/include" "$out/build/include"
printf '#!/bin/sh\necho nothing works; exit 3\n' >"$out/build/bin/oshrun" && chmod +x "$out/build/bin/oshrun"
printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; cp /bin/true "$2"\n' >"$out/build/bin/oshcc" && chmod +x "$out/build/bin/oshcc"
if "$here/gpu-test" --on-cpu --build "$out/build" --out "$out/second" --only bench >"$out/second.log" 2>&1; then fail "a failure went unnoticed"; fi
grep -q "FAILED *bench-proxy with 2 PEs, status 3" "$out/second.log" || fail "the failure is not named"
rm -rf "$out"
