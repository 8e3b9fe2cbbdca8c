#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; --timeout is oshrun's own.
. "${0%/*}/engine_lib.sh"
fake_orte
export PATH=$work/engines:$tools_path
# One that is faster keeps its own status.
run "$OSHRUN" --engine mpirun --timeout 100 ./program
status 42
# One that ends at once when it is told to.
sed -i 's/^exit 42$/exec sleep 600/' engines/mpirun
run "$OSHRUN" --engine mpirun --timeout 0.3 ./program
status 124
err_has 'not ended within 0.3 s \(--timeout\)'
nothing_left
