#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# After the last shmem_finalize a shmem_init joins the same job again, also when PEs come and go at different times.
# Spec: OpenSHMEM 1.6 §9.1.1 shmem_init, §9.1.4 shmem_finalize
. "${0%/*}/lib.sh"
run 3 init ring finalize init ring finalize @1:sleep=300 init ring finalize @0:sleep=300 init ring finalize say=done
status 0
count 3 'done of PE'
nothing_left
