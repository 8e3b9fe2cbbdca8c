#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Two executables in one job: it starts and the heap works; a put to a static object names both; the report says that statics do not correspond.
. "${0%/*}/lib.sh"
OTHER=$RINGS/ring_other
mixed() { echo "if [ \$POSTERN_PE = 1 ]; then exec \"\$1\" $1; fi; exec \"\$0\" $1"; }
ring_ok -n 3 sh -c "$(mixed heap)" "$RING" "$OTHER"

run "${JOB[@]}" -n 2 sh -c "$(mixed only-static)" "$RING" "$OTHER"
status 1
err_has 'static object at 0x[0-9a-f]+ is not symmetric with PE [01]'
err_has 'why: .*words_travel_round_a_ring.*ring_other|why: .*ring_other.*words_travel_round_a_ring'

POSTERN_REPORT=1 run "${JOB[@]}" -n 2 sh -c "$(mixed heap)" "$RING" "$OTHER"
status 0
err_has 'static-data.*ring_other'

POSTERN_REQUIRE=static-data run "${JOB[@]}" -n 2 sh -c "$(mixed heap)" "$RING" "$OTHER"
status 1
err_has 'static-data'
