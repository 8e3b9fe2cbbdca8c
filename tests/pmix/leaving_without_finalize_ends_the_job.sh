#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# exit() between shmem_init and shmem_finalize is a failure when others are still in the job, and the job ends; when all do it at about the same
# time nobody is left to wait.
# Spec: none; docs/architecture.md "How a job ends"
. "${0%/*}/lib.sh"
run_failing 'words of PE 0' 'words of PE 1' 'words of PE 2' 'PE 1: ended without shmem_finalize' 'fix: call shmem_finalize on every PE' \
    'PE 0: waits in shmem_long_wait_until' -- 3 init barrier print=words @1:exit=0 wait
run_failing 'words of PE 0' 'PE 2: exited with status 3 without shmem_finalize' -- 3 init barrier print=words @2:exit=3 wait
status 3
# Past all handlers: only the launcher sees it.
run 3 init barrier @1:_exit=0 wait
status_is_a_failure
nothing_left
run 3 init barrier print=words exit=0
status 0
count 3 'words of PE'
lacks 'without shmem_finalize'
run 1 init print=words exit=0
status 0
run 1 init print=words exit=6
status 6
nothing_left
