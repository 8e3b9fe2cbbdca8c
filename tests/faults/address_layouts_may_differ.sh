#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B56: nothing needs equal addresses on two PEs: address randomisation, one PE without it, one with much mapped before init, one built with ASan, one with
# a static array of 1 GiB, in every position.
# Spec: OpenSHMEM 1.6 §3 Memory Model
. "${0%/*}/lib.sh"
for _ in $(seq 20); do ring_ok -n 2 "$RING"; done
for odd in 0 1; do
    if setarch -R true 2>/dev/null; then
        ring_ok -n 2 sh -c "if [ \$POSTERN_PE = $odd ]; then exec setarch -R \"\$0\"; fi; exec \"\$0\"" "$RING"
    fi
    ring_ok -n 3 sh -c "if [ \$POSTERN_PE = $odd ]; then exec \"\$0\" map; fi; exec \"\$0\"" "$RING"
    for name in asan huge; do
        [ -x "$RINGS/ring_$name" ] || continue
        ring_ok -n 2 sh -c "if [ \$POSTERN_PE = $odd ]; then exec \"\$1\" heap; fi; exec \"\$0\" heap" "$RING" "$RINGS/ring_$name"
    done
done
for name in asan huge; do # all PEs alike: statics too
    [ -x "$RINGS/ring_$name" ] || continue
    ring_ok -n 2 "$RINGS/ring_$name"
done
