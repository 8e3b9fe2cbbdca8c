#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 1 sh -c '"$0" open sleep=1000 & sleep 0.3; "$0" open sleep=1000' "$PE"
status 1
err_has 'two programs \(processes [0-9]+ and [0-9]+\) cannot both be PE 0'
nothing_left
