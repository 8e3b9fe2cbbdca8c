#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A put of 8 bytes is one work request, and at most 250 instructions from the call to the doorbell; a put with signal is one request, or two with the
# device as agent, and one doorbell. callgrind counts, so the numbers do not depend on the machine's load.
set -u
: "${SIMVERBS_LIB:?folder of libibverbs.so.1}" "${OSHRUN:?oshrun}" "${PROGRAM:?program}"
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
over=$(dirname "${BASH_SOURCE[0]}")/../over_simverbs
limit=${LIMIT:-250}
command -v valgrind >/dev/null || skip "valgrind is not installed"

# No thread of ours beside: one that valgrind stops while it has the lane would let a put wait.
export POSTERN_TRANSPORTS=ibverbs SHMEM_SYMMETRIC_SIZE=4M POSTERN_PROGRESS=0
# The counts begin anew at each call of the put, and are written down whenever the device's post_send is entered.
cat >count.sh <<'END'
[ "$POSTERN_PE" = 0 ] || exec "$@"
exec valgrind -q --tool=callgrind --callgrind-out-file="$PWD/counts" --toggle-collect='*shmem_long_put' \
    --zero-before='*shmem_long_put' --dump-before=sim_post_send "$@"
END
"$over" "$SIMVERBS_LIB" "$OSHRUN" -n 2 --timeout 100 sh count.sh "$PROGRAM" 1 >out 2>err || { cat out err; fail "over callgrind"; }
"$over" "$SIMVERBS_LIB" env POSTERN_AMO=nic "$OSHRUN" -n 2 --timeout 60 "$PROGRAM" 2 >out.nic 2>err || { cat out.nic err; fail "the device as agent"; }
# One for each put, and one more behind the last of them: what was counted from its doorbell on. Requests of others count nothing.
printf '%s\n' counts.* | sort -V | xargs awk '/^summary:/ && $2 > 0 { print $2 }' | head -n -1 >all
[ "$(wc -l <all)" = 40 ] || fail "$(wc -l <all) puts were counted, not 40"
least=$(sort -n all | head -1) most=$(sort -n all | tail -1)
echo "a put of 8 bytes: $least to $most instructions from the call to the doorbell"
cat out
[ "$least" -gt 50 ] || fail "so few are no put: this test counts wrongly"
[ "$most" -le "$limit" ] || fail "more than $limit"
