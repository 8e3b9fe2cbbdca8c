#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# With one block at a time kernels whose blocks do not wait for each other end as they should; one whose blocks do ends within the bound of
# waits, with a message that names the wait and says that blocks have not begun.
set -u
. "$(dirname "$0")/../lib.sh"
programs=$(dirname "$POSTERN_BIN")/tests/device
ulimit -c 0
export POSTERN_CPU_BLOCKS=1

run() {
    command_run="$*"
    rc=0
    { timeout 100 "$POSTERN_BIN/oshrun" "$@"; } >out 2>err || rc=$?
}

run -n 2 "$programs/rma_moves_every_type"
status 0
run -n 2 "$programs/collectives_agree_with_plain_loops"
status 0

POSTERN_WAIT_TIMEOUT=1s run -n 2 "$programs/blocks_that_wait_need_room"
[ "$rc" != 0 ] || fail "it has passed"
[ "$rc" != 124 ] || fail "it hangs"
for text in "shmem_signal_wait_until" "2 of the 3 blocks have not begun" "at most 1 run at a time" "fix: blocks that wait for each other"; do
    grep -qF -- "$text" err || fail "no \"$text\""
done
