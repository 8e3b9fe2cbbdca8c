#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# How a barrier goes depends on whether PEs are bound to cores, and all must come to the same answer: one PE alone may be told otherwise, by a wrapper that
# changes or drops POSTERN_BINDING. With more PEs than cores, and with fewer.
. "${0%/*}/lib.sh"
odd() { echo "if [ \$POSTERN_PE = $1 ]; then $2; fi; exec \"\$0\""; }
one_core=()
if command -v taskset >/dev/null; then # so that four PEs are crowded on every machine
    one_core=(taskset -c "$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')")
fi
for change in "export POSTERN_BINDING='core 0 (cpus 0; node 0)'" "export POSTERN_BINDING=none" "unset POSTERN_BINDING"; do
    for pe in 0 2; do
        run ${one_core[@]+"${one_core[@]}"} "${JOB[@]}" -n 4 --bind none sh -c "$(odd $pe "$change")" "$RING"
        status 0
        err_empty
        ring_ok -n 2 sh -c "$(odd $((pe / 2)) "$change")" "$RING"
    done
done
# All but one are told that they have cores.
ring_ok -n 4 --bind none sh -c "if [ \$POSTERN_PE != 1 ]; then export POSTERN_BINDING='core 0'; fi; exec \"\$0\"" "$RING"
