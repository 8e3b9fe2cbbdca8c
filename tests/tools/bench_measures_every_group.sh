#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# postern-bench: a row for each operation, the same rows as JSON and CSV, with one, two and three PEs and where the peer is posted to.
set -u
bin=$POSTERN_BIN
unset POSTERN_BIN # the library would take it for one of its variables, misspelt
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
quick=(--samples 3 --sample-us 1 --sizes 8:64K)

fail() {
    echo "FAILED: $*"
    failed=1
}

# rows N GROUP [environment]: what postern-bench prints for it.
rows() {
    local n=$1 group=$2
    shift 2
    env "$@" "$OSHRUN" -n "$n" --timeout 100 "$bin/postern-bench" "$group" "${quick[@]}" 2>&1
}

# has TEXT REGEX...: each must be there, as a line.
has() {
    local text=$1 regex
    shift
    for regex in "$@"; do
        grep -qE -- "$regex" <<<"$text" || fail "no line like '$regex' in:"$'\n'"$text"
    done
}

text=$("$OSHRUN" -n 2 --timeout 100 "$bin/postern-bench" "${quick[@]}" --json "$folder/all.json" --csv "$folder/all.csv" 2>&1) ||
    fail "all groups: status $?"
has "$text" '^# library +Postern' '^# routes ' \
    '^p +heap +8 B +[0-9.]+ ns .* store$' '^p +static +8 B' '^put [+] quiet +heap +64 KiB' '^g +heap' '^get +heap +512 B' \
    '^quiet, nothing' '^fence, nothing' '^p [+] wait_until, one way +static +8 B .* two flags$' \
    '^put_nbi +heap +4 KiB +[0-9.]+ GB/s' '^get_nbi ' '^put_nbi, 1000 and quiet .* M/s' '^fetch_add +heap .* lock add$' '^compare_swap +static' \
    '^fetch_add by all PEs' '^put_signal, one way +heap +64 B' '^barrier_all ' '^sync_all ' '^broadcast [+] sync_all +heap +64 KiB' \
    '^reduce .*heap +4 KiB' '^fcollect ' '^alltoall ' '^malloc [+] free .* two barrier_all$' '^malloc and first touch' \
    '^job of 8 PEs +- +[0-9.]+ ms'
python3 - "$folder" <<'PYTHON' || fail "JSON and CSV differ from the table"
import csv, json, sys
rows = json.load(open(sys.argv[1] + "/all.json"))["rows"]
table = list(csv.DictReader(open(sys.argv[1] + "/all.csv")))
assert len(rows) == len(table) > 40, (len(rows), len(table))
assert {row["group"] for row in rows} == {"latency", "bandwidth", "rate", "atomic", "signal", "collective", "heap", "startup"}
for row, line in zip(rows, table):
    assert (row["operation"], str(row["bytes"])) == (line["operation"], line["bytes"])
    assert 0 < row["p5_ps"] <= row["median_ps"] <= row["p95_ps"] <= row["p99_ps"], row
PYTHON

has "$(rows 1 latency)" '^p +heap' '^put [+] quiet +heap +64 KiB'
has "$(rows 3 collective)" '^barrier_all ' '^alltoall +heap +4 KiB'
# Where the tests' own transport is built: beside the transports of the library.
chaos=$(find "${bin%/bin}/lib" -maxdepth 2 -name transport_chaos.so -printf '%h\n' 2>/dev/null | head -n 1)
[ -z "$chaos" ] || has "$(rows 2 signal POSTERN_NODE=a,b POSTERN_TRANSPORTS=shm,chaos POSTERN_TRANSPORT_PATH="$chaos")" \
    '^put_signal, one way +heap +4 KiB .*flag$'

# Without gnuplot a plot is an error that says so; with it there is a picture.
mkdir "$folder/bin"
for tool in sh env; do ln -s "$(command -v $tool)" "$folder/bin/"; done
text=$(PATH=$folder/bin "$OSHRUN" -n 2 "$bin/postern-bench" latency "${quick[@]}" --plot "$folder/no.svg" 2>&1) && fail "no gnuplot, and status 0"
has "$text" 'why: gnuplot is not installed' 'fix: install the package gnuplot-nox'
if command -v gnuplot >/dev/null; then
    "$OSHRUN" -n 2 "$bin/postern-bench" latency collective "${quick[@]}" --plot "$folder/yes.svg" >/dev/null || fail "plot: status $?"
    has "$(cat "$folder/yes.svg")" '<svg' 'put [+] quiet' 'fcollect'
fi
exit $failed
