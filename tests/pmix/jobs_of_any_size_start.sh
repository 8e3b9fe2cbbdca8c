#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A launcher with PMIx starts 1, 2 and 5 PEs; they put to one another, and the report says who started them.
# Spec: OpenSHMEM 1.6 §9.1.1 shmem_init
. "${0%/*}/lib.sh"
for pes in 1 2 5; do
    POSTERN_REPORT=1 run $pes init ring ring finalize
    status 0
    case $pes in
    1) has "1 PE on .*, started by $ENGINE \(PMIx [0-9]" ;;
    *) has "$pes PEs on .*, started by $ENGINE \(PMIx [0-9]" ;;
    esac
done
nothing_left
