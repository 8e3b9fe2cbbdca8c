#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The launcher gets TERM, and the PEs flush what they have printed; it is killed, and nothing is left.
# Spec: none; docs/architecture.md "How a job ends"
. "${0%/*}/lib.sh"
[ "$ENGINE" = srun ] && skip "srun is not the parent of the PEs: slurmd ends them"
lines() { [ "$(grep -c 'ready of PE' "$work/out")" = 3 ]; }
begin() {
    launcher_of 3
    command_run="${launcher[*]} $*"
    "${launcher[@]}" "$PE" "$@" >"$work/out" 2>"$work/err" </dev/null &
    started=$!
    until_true lines || fail "the PEs never were ready"
}
# What was printed appears; mpirun may be gone before it has passed it on, and prterun always is.
for tries in 1 2 3 4 5; do
    begin init barrier say=ready print=words wait
    kill -TERM $started
    wait $started
    rc=$?
    status_is_a_failure
    nothing_left
    [ "$ENGINE" = prterun ] && break
    [ "$(cat "$work/out" "$work/err" | grep -c 'words of PE')" = 3 ] && break
    [ $tries -lt 5 ] || count 3 'words of PE'
done
begin init barrier say=ready wait
kill -KILL $started
wait $started
nothing_left
