#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" open gather=8 close open gather=8 gather=16 close open close open gather=0 close puts=done
status 0
count 3 '^done$' out
err_empty
# Two programs one after the other in one PE.
run "$OSHRUN" -n 3 sh -c '"$0" open gather=8 close && "$0" open gather=8 close puts=done' "$PE"
status 0
count 3 '^done$' out
err_empty
# It is in the job again, so that it must leave again.
run "$OSHRUN" -n 2 "$PE" open gather=0 close open gather=0 @1:_exit=0 wait
status 1
err_has 'PE 1 .* ended without shmem_finalize'
