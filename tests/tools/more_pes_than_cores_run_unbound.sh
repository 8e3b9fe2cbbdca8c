#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
cores=$(nproc)
[ "$cores" -le 64 ] || { echo "would need more than 64 PEs"; exit 77; }
all=$(python3 -c 'import os; print("cpus", *sorted(os.sched_getaffinity(0)))')
run "$OSHRUN" -n $((cores + 1)) "$PE" cpus env=POSTERN_BINDING
status 0
count $((cores + 1)) "^$all$" out
count $((cores + 1)) "^POSTERN_BINDING=none \($((cores + 1)) PEs on [0-9]+ cores?\)$" out
err_empty
run "$OSHRUN" -n $((cores + 1)) --bind core "$PE" cpus # asked for: said
status 0
err_has 'warning: the PEs are not bound to cores'
