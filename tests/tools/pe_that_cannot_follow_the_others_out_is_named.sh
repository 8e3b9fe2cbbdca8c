#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A PE that comes out of its last shmem_finalize has met all others there. One that was elsewhere would wait for ever.
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" open @0:leaving=1 @2:leaving=1 gather=8 @0:close @0:exit=0 sleep=1000
status 1
err_has 'PE 0 has left the job by shmem_finalize, and PE 1 cannot follow'
err_has 'why: where PE 0 made its last shmem_finalize, PE 1 made another collective call'
nothing_left
# It has come to its last finalize meanwhile, after one barrier more.
run "$OSHRUN" -n 4 "$PE" open @0:leaving=2 @1:leaving=1 @2:leaving=2 @3:leaving=1 gather=8 @2:close sleep=1000
status 1
err_has 'PE 2 has left the job by shmem_finalize, and PE 1, 3 cannot follow'
nothing_left
# It has ended without it, and with status 0.
run "$OSHRUN" -n 2 "$PE" open @0:leaving=1 gather=8 @1:exit=0 sleep=0.1 close
status 1
err_has 'PE 0 has left the job by shmem_finalize, and PE 1 cannot follow'
# In order: also when one PE is far behind, and in a second round.
run "$OSHRUN" -n 3 "$PE" open leaving=7 gather=8 @1:sleep=0.3 close open leaving=2 gather=8 @2:sleep=0.3 close
status 0
err_empty
nothing_left
