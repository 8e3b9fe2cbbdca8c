#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B32: nothing is registered or locked on one machine, so ulimit -l does not matter.
. "${0%/*}/lib.sh"
for limit in 0 64; do
    run sh -c "ulimit -l $limit; exec \"\$@\"" sh "${JOB[@]}" -n 2 "$RING" fill
    status 0
    err_empty
done
