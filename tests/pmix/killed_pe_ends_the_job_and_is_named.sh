#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A PE that is killed before shmem_init, in a wait or in shmem_finalize ends the job, and nothing is left. Of one that has called shmem_init somebody
# says which one it was; of another only the launcher can know, and mpirun does not always tell.
# Spec: none; docs/architecture.md "How a job ends"
. "${0%/*}/lib.sh"
run 3 @1:kill=9 init finalize
status_is_a_failure
nothing_left
run_failing '(rank|task|PE) 1\>' -- 3 init barrier @1:kill=9 wait
status 137
run_failing '(rank|task|PE) 2\>' -- 3 init barrier @2:kill=11 barrier
run_failing '(rank|task|PE) 1\>' -- 3 init barrier @1:sleep=200 @1:kill=9 finalize
status 137
