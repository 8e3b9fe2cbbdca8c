#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# kill -9 of a PE in start-up, put, get, atomic, signal, quiet, heap call, collective, wait, barrier, lock (as waiter and as holder) and finalize, over pretend
# nodes with posted routes between: the job ends with the status of the kill, one message names the PE, and nothing is left behind.
# Spec: OpenSHMEM 1.6 §4 Execution Model
. "${0%/*}/lib.sh"
[ -n "${CHAOS-}" ] || skip "this build has no chaos transport"
export POSTERN_TRANSPORTS=shm,chaos POSTERN_TRANSPORT_PATH=$CHAOS
export TMPDIR=$work/tmp # others use /tmp at the same time
mkdir "$TMPDIR"
look() { ls -A /dev/shm | grep -i postern; ls -A "$TMPDIR"; }
before=$(look)

killed() { # LAYOUT PES STEP PE [MICROSECONDS]
    layout=$1 pes=$2
    shift 2
    run "${JOB[@]}" -n "$pes" --env POSTERN_NODE="$layout" "$STEPS" "$@"
    status 137
    nothing_left
    err_has "PE $2 .* was ended by signal 9"
    count 1 'was ended by signal' err
    err_lacks 'Sanitizer|does not hold'
    # Who waits may say for what; nobody else has anything to complain of.
    ! grep '^postern: ' err | grep -vE "^postern: PE $2 .* was ended by signal 9|^postern: PE [0-9]+: waits " || fail "more than one message"
}
steps=(put get atomic signal quiet heap collective wait barrier lock holder finalize)
for step in "${steps[@]}"; do
    killed a,b 3 $step 1 # the only one of its node
done
for _ in 1 2 3 4; do # any PE of two nodes, at any moment
    killed a:2,b 3 ${steps[RANDOM % ${#steps[@]}]} $((RANDOM % 3)) $((RANDOM % 20000))
done
for delay in 0 1000 10000; do killed a,b 3 start $((RANDOM % 3)) $delay; done

# During finalize itself the kill may come too late, or after the PE has left the job: then it does not matter, or is told.
for delay in 0 300 3000; do
    run "${JOB[@]}" -n 3 --env POSTERN_NODE=a,b "$STEPS" leaving 1 $delay
    [ "$rc" = 0 ] || [ "$rc" = 137 ] || fail "status is $rc"
    nothing_left
done

# Where a network library is between the nodes, it sees the death too, and stays silent about it.
if [ -n "${LIBFABRIC-}" ]; then
    export POSTERN_TRANSPORTS=shm,libfabric
    run "${JOB[@]}" -n 2 --env POSTERN_NODE=a,b "$RING"
    if [ "$rc" = 0 ]; then
        for step in put barrier start; do killed a,b 3 $step 1; done
    else
        echo "without libfabric: the library is not there"
    fi
fi
[ "$(look)" = "$before" ] || fail "left behind: $(look)"
