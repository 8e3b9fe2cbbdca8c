#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 2 "$PE" open gather=0 @1:raise=19 @0:sleep=0.2 exit=3
status 3
nothing_left
