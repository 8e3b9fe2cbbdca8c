#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 3 "$PE" open gather=8 child gather=8 close puts=done
status 0
count 3 '^done$' out
err_has 'this process is a fork of PE'
err_lacks 'a child speaks'
