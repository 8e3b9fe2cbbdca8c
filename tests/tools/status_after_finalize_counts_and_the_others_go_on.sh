#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" open gather=8 close @0:exit=3 sleep=2 puts=finished
status 3
count 2 '^finished$' out
count 1 'PE 0 .* exited with status 3 after it left the job' err
run "$OSHRUN" -n 2 "$PE" open gather=8 close @1:raise=11 sleep=2 puts=finished
status 139
count 1 '^finished$' out
# All of them: two lines, not one for each.
run "$OSHRUN" -n 5 "$PE" open gather=8 close exit=3
status 3
count 2 '^postern: ' err
err_has '^postern: 4 more PEs exited with a status other than 0'
