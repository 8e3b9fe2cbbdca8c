#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A PE that does not come to shmem_init is named, once, when POSTERN_INIT_TIMEOUT has passed, and the job ends. (On a slow machine others may
# be late, too.)
# Spec: none; docs/environment.md, POSTERN_INIT_TIMEOUT
. "${0%/*}/lib.sh"
export POSTERN_INIT_TIMEOUT=2s
run_failing 'PEs? ([0-9, ]*, )?2 (has|have) not arrived within 2 s' 'fix: see what holds them up; POSTERN_INIT_TIMEOUT sets the limit' -- \
    3 @2:sleep=100000 init finalize
at_most_once 'not arrived'
# The first one, in a later exchange.
run_failing 'PEs? 0(, [0-9, ]*)? (has|have) not arrived within 2 s' -- 3 init finalize @0:sleep=100000 init finalize
# It is only late.
export POSTERN_INIT_TIMEOUT=60s
run 2 @1:sleep=700 init ring finalize
status 0
nothing_left
