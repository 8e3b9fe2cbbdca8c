#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# oshrun does not close a socket on a PE that is in the middle of its request: the PE would take oshrun for gone.
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 2 "$PE" deaf open gather=8 @0:exit=6 event late close
status 6
count 1 '^event 2 status 6: PE 0 .* exited with status 6 without shmem_finalize$' out
count 1 '^answer ended, then sent 8$' out
count 1 '^postern: ' err
nothing_left
