#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# After shmem_finalize a PE may exit with any status, and the launcher returns it. Nothing of ours is said.
# Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize
. "${0%/*}/lib.sh"
run 3 init barrier finalize @1:exit=4 exit=0
status 4
lacks 'postern:'
run 2 exit=0
status 0
nothing_left
