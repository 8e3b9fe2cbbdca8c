#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" open gather=8 @1:raise=11 wait
status 139
count 1 '^postern: PE 1 \(process [0-9]+\) was ended by signal 11 \(SIGSEGV, Segmentation fault\)' err
# The others learn who died, and nobody else is blamed.
count 2 '^pe [02]: event failure status 139: PE 1 ' err
count 1 '^postern: ' err
run "$OSHRUN" -n 2 "$PE" open gather=8 @0:raise=9 wait
status 137
err_has 'PE 0 .*signal 9 \(SIGKILL'
nothing_left
