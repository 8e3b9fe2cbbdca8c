#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B52: what was asked for and cannot be had is an error that names it; what was chosen instead is a line of the report, once, before the run.
. "${0%/*}/lib.sh"
POSTERN_TRANSPORTS=ibverbs_that_is_not_here run "${JOB[@]}" -n 2 "$RING"
status 1
err_has 'ibverbs_that_is_not_here'
count 1 '^postern: .*ibverbs_that_is_not_here' err

POSTERN_REQUIRE=shoes run "${JOB[@]}" -n 2 "$RING"
status 1
err_has 'shoes'
POSTERN_REQUIRE=membarrier POSTERN_MEMBARRIER=0 run "${JOB[@]}" -n 2 "$RING"
status 1
err_has 'membarrier'
POSTERN_REQUIRE=huge POSTERN_PAGES=small run "${JOB[@]}" -n 2 "$RING"
status 1
err_has 'huge'
POSTERN_REQUIRE=static-data ring_ok -n 2 "$RING"

POSTERN_REPORT=1 run "${JOB[@]}" -n 3 "$RING"
status 0
for word in job static-data huge 'transport shm' membarrier bind checks; do count 1 "^postern: *$word|^ *$word" err; done
[ ! -s out ] || fail "the report belongs to standard error"

run "$BINARIES/postern-info"
status 0
out_has 'huge'
out_has 'membarrier'
