#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# SHMEM_VERSION prints the version, SHMEM_INFO every variable with help; by one PE, whatever their value is, an
# empty one too. A POSTERN_ variable that does not exist is a warning, and an error with POSTERN_STRICT=1.
# Spec: OpenSHMEM 1.6 §8 Environment Variables
. "${0%/*}/lib.sh"
for value in 1 0 no ""; do
    SHMEM_VERSION=$value run "${JOB[@]}" -n 3 "$RING"
    status 0
    count 1 'Postern .*OpenSHMEM 1\.6' out
    SHMEM_INFO=$value run "${JOB[@]}" -n 3 "$RING"
    status 0
    for name in SHMEM_VERSION SHMEM_INFO SHMEM_SYMMETRIC_SIZE SHMEM_DEBUG POSTERN_WAIT_TIMEOUT POSTERN_CHECK; do
        out_has "$name"
        [ "$(grep -cE "^[ *]*$name\b" out)" = 1 ] || fail "$name is told $(grep -cE "^[ *]*$name\b" out) times"
    done
    out_has 'static-data'
done
SHMEM_DEBUG=1 run "${JOB[@]}" -n 2 "$RING"
status 0

POSTERN_CHEKC=1 run "${JOB[@]}" -n 3 "$RING"
status 0
count 1 'POSTERN_CHEKC' err
POSTERN_STRICT=1 POSTERN_CHEKC=1 run "${JOB[@]}" -n 3 "$RING"
status 1
err_has 'POSTERN_CHEKC'
for setting in POSTERN_CHECK=maybe POSTERN_SPIN=fast POSTERN_PAGES=golden POSTERN_WAIT_TIMEOUT=-3s POSTERN_REPORT=2; do
    run env $setting "${JOB[@]}" -n 3 "$RING"
    status 1
    count 1 "^postern: .*${setting%%=*}" err
done
