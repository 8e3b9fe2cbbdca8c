#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 4 "$PE" open identity gather=0 close
status 0
for pe in 0 1 2 3; do count 1 "^pe $pe of 4 local $pe of 4 launcher oshrun$" out; done
exit 0
