#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Exchanges of the module alone: cards of a byte, of a whole piece and one byte more, and of a megabyte.
# Spec: none; runtime/bootstrap/bootstrap.h, allgather
. "${0%/*}/lib.sh"
: "${EXCHANGE:?path of the program exchange}"
run_program 3 "$EXCHANGE" 1 8 1000 16384 16385 100000 1000000
status 0
has '7 sizes, 3 PEs: every byte is right'
run_program 1 "$EXCHANGE" 1 40000
status 0
# More PEs than are asked for at a time.
run_program 70 "$EXCHANGE" 600
status 0
has '1 sizes, 70 PEs: every byte is right'
nothing_left
