#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A kernel that cannot go on ends with one message that says where, why and what to do.
set -u
. "$(dirname "$0")/../lib.sh"
program=$(dirname "$POSTERN_BIN")/tests/device/faulty_kernels
ulimit -c 0

# named NUMBER RC TEXT...: the kernel's exit status, and what its message has.
named() {
    local number=$1 wanted=$2 text
    shift 2
    command_run="faulty_kernels $number"
    rc=0
    { timeout 60 "$program" "$number"; } >out 2>err || rc=$?
    status "$wanted"
    for text in "$@"; do grep -qF -- "$text" err || fail "no \"$text\""; done
}

named 1 134 "kernel different_barriers, block (0,0,0): its threads wait at different barriers" "16 at __syncthreads, thread 0" \
    "lane 16 of warp 0" "lanes 0xffffffff" "32 have ended" "fix: let all threads"
named 2 134 "block (0,0,0), thread (5,0,0): lane 5 is not in the mask 0x0000001f"
named 3 134 "kernel trapping, block (2,0,0), thread (" ",3,0): trapped"
POSTERN_CPU_BLOCKS=1 named 4 134 "block (0,0,0), thread (0,0,0): has waited for too long" "2 of the 3 blocks have not begun" "at most 1 run" \
    "fix: blocks that wait for each other must all run at once"
POSTERN_CPU_BLOCKS=2 named 4 0
POSTERN_CPU_BLOCKS=3 named 4 0
named 4 0
named 5 5 "kernel trapping: a block of 2048 threads is too large" "at most 1024"
named 6 134 "__syncthreads is called outside a kernel"
POSTERN_CPU_BLOCKS=many named 4 0 'POSTERN_CPU_BLOCKS is "many"' "a number from 0 to 4096"
