#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# shmem_global_exit ends every PE, whatever it does; the launcher returns the status, 0 too, and what was printed appears.
# Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
. "${0%/*}/lib.sh"
run_printing 3 'words of PE' 3 init barrier print=words @1:global=7 wait
status 7
lacks 'waits in' # nobody is asked what it waits for: it is no failure
nothing_left
run_printing 3 'words of PE' 3 init barrier print=words @0:global=0 @1:wait sleep=100000
status 0
nothing_left
# All at once.
run_printing 3 'words of PE' 3 init barrier print=words global=5
status 5
nothing_left
