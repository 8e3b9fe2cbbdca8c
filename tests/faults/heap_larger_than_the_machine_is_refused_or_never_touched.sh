#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B30: a heap of ten times the memory is refused at start-up, saying how much there is; with POSTERN_OVERCOMMIT=1 it starts, as long as little is used.
. "${0%/*}/lib.sh"
kib=$(sed -n 's/MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo)
export SHMEM_SYMMETRIC_SIZE=$((kib * 10))K
run "${JOB[@]}" -n 2 "$RING"
status 1
err_has 'symmetric memory: 2 PEs x [0-9]+ MiB of heap'
err_has 'why: .*(MiB|GiB|KiB)'
err_has 'fix: .*SHMEM_SYMMETRIC_SIZE'
count 1 '^postern: .*heap' err
POSTERN_OVERCOMMIT=1 ok_or_refused "${JOB[@]}" -n 2 "$RING"
