#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: OpenSHMEM 1.6 §B.2 Running Programs
. "${0%/*}/lib.sh"
run "$OSHRUN" --timeout=50 -np 2 printf '%s %s %s\n' -n 5 --help
count 2 '^-n 5 --help$' out
run "$OSHRUN" -n 2 printf '%s\n' -np --timeout -- -x
count 2 '^-np$' out
count 2 '^--$' out
run "$OSHRUN" -n2 -- printf '%s\n' one
count 2 '^one$' out
run "$OSHRUN" -np 3 printf '%s\n' one
count 3 '^one$' out
run "$OSHRUN" printf '%s\n' one
count 1 '^one$' out
