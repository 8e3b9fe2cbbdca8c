#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A missing module and a missing libpmix have reasons of their own. Spec: none; the report is the library's own.
. "${0%/*}/lib.sh"
info=${POSTERN_BIN:?folder of the tools}/postern-info
if [ ! -e "$POSTERN_BIN/../lib/postern/bootstrap_pmix.so" ]; then
    run "$info"
    status 0
    count 1 "^  bootstrap pmix +absent +.*built without PMIx" out
    exit 0
fi
run env POSTERN_PMIX_LIBRARY=libnone.so "$info"
status 0
count 1 "^  bootstrap pmix +absent +.*libnone.so: cannot open" out
run env POSTERN_PMIX_LIBRARY=libm.so.6 "$info" # any library that is there
status 0
count 1 "^  bootstrap pmix +present +.*libm.so.6" out
POSTERN_SURVEY=0 run "$info"
count 0 "^  bootstrap pmix " out
