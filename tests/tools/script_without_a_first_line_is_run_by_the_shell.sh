#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
printf 'echo "script $1 $POSTERN_PE"\n' >script
chmod +x script
run "$OSHRUN" -n 2 ./script word
status 0
count 1 '^script word 0$' out
count 1 '^script word 1$' out
