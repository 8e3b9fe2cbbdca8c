#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: OpenSHMEM 1.6 §B.2 Running Programs
. "${0%/*}/lib.sh"
run "$OSHRUN" --help
status 0
for word in -n --tag-output --timeout --env --bind --help --version 'EXIT STATUS' POSTERN_LOCAL_RANK; do out_has "$word"; done
run "$OSHRUN" --version
status 0
out_has '^oshrun \(Postern\) [0-9]+\.[0-9]+\.[0-9]+$'
