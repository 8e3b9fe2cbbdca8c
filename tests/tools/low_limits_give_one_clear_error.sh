#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run bash -c 'ulimit -n 8; exec "$0" "$@"' "$OSHRUN" -n 2 "$PE" open gather=0 close
status 1
count 1 '^postern: ' err
err_has 'needs [0-9]+ open files for them, and the limit is 8'
err_has 'fix: .*ulimit -n'
# A low soft limit is raised by oshrun for itself, and is what it was for the PEs.
run bash -c 'ulimit -S -n 40; exec "$0" "$@"' "$OSHRUN" -n 30 sh -c '"$0" open gather=8 close; ulimit -S -n' "$PE"
status 0
count 30 '^40$' out
err_empty
nothing_left
