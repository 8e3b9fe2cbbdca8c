#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
# 15: TERM. Not joined, so that no event reaches them either.
run "$OSHRUN" -n 3 "$PE" ignore=15 ignore=2 @1:sleep=0.2 @1:raise=6 sleep=1000
status 134
err_has 'PE 1 .*SIGABRT'
nothing_left
