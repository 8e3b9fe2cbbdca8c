#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
export TOOLS_A=outer TOOLS_B=outer
run "$OSHRUN" -n 2 --env TOOLS_A=1 --env TOOLS_C= --env TOOLS_A=two=2 "$PE" env=TOOLS_A env=TOOLS_B env=TOOLS_C
status 0
count 2 '^TOOLS_A=two=2$' out
count 2 '^TOOLS_B=outer$' out
count 2 '^TOOLS_C=$' out
# An oshrun inside a PE: its PEs belong to it alone.
run "$OSHRUN" -n 1 "$OSHRUN" -n 2 "$PE" open identity gather=0 close
status 0
count 1 '^pe 1 of 2' out
