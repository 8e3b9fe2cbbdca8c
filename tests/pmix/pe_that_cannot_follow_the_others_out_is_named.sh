#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# One PE has made a barrier more than the others, which leave: it is named, and the job ends.
# Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize
. "${0%/*}/lib.sh"
run_failing 'PE 0 has left the job by shmem_finalize, and PE 1 cannot follow' \
    'why: where PE 0 made its last shmem_finalize, PE 1 made another collective call' -- 3 init barrier @-1:finalize @-1:sleep=100000 @1:barrier @1:barrier finalize
