#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A POSTERN_NODE that is no list of names is one message for the whole job, with the value and the form that it should have, also where one PE alone
# has it. Any text without comma and colon is a name; an empty value is none. Without a transport between the nodes each
# node says so.
# Spec: none; pretend nodes are a means of testing
. "${0%/*}/lib.sh"
one_error() { # the value, as the message shows it
    status 1
    nothing_left
    count 1 '^postern: ' err
    grep -qF "POSTERN_NODE is \"$1\"" err || fail "the value is not shown"
    err_has 'fix: .*POSTERN_NODE=a,b'
}
for value in , a, ,a a,,b :2 a: a:0 a:-1 a:+1 a:x a:2x 'a: 2' a:2:3 a:99999999999 a:2147483648; do
    run "${JOB[@]}" -n 3 --env POSTERN_NODE="$value" "$RING"
    one_error "$value"
done
run "${JOB[@]}" -n 3 sh -c 'case $POSTERN_PE in 2) export POSTERN_NODE=a:; esac; exec "$0"' "$RING"
one_error a:
err_has 'PE 2:'

# Without a way between the nodes.
run "${JOB[@]}" -n 2 --env POSTERN_NODE=a,b --env POSTERN_TRANSPORTS=shm "$RING"
status 1
nothing_left
count 2 '^postern: PE [01]: there is no way from this node to the others' err

for value in '' a long-$(printf '%0300d' 7) 'a b' 'ä' a:2147483647; do
    ring_ok -n 3 --env POSTERN_NODE="$value" "$RING"
done
[ -n "${CHAOS-}" ] || exit 0
export POSTERN_TRANSPORTS=shm,chaos POSTERN_TRANSPORT_PATH=$CHAOS
for value in 'a b,ä' a:1,a:1,b:1 a:2147483647,b 2,1; do
    ring_ok -n 3 --env POSTERN_NODE="$value" "$RING"
done
# Each PE may have a value of its own.
ring_ok -n 3 sh -c 'POSTERN_NODE=n$POSTERN_PE exec "$0"' "$RING"
