#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Two jobs of one user on one machine; one ends by shmem_global_exit, and the other one does not notice.
# Spec: none; docs/architecture.md "Start-up"
. "${0%/*}/lib.sh"
launcher_of 3
timeout -k 2 60 "${launcher[@]}" "$PE" init ring sleep=1500 ring finalize say=quiet >"$work/other" 2>&1 </dev/null &
other=$!
for round in 1 2 3; do
    run 3 init ring @1:global=5 wait
    status 5
done
wait $other
rc=$?
cat "$work/other" >"$work/out"
status 0
count 3 'quiet of PE'
nothing_left
