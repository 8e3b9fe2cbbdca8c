#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
run "$OSHRUN" -n 2 "$PE" open @0:gather=8 @1:gather=16 close
status 1
err_has 'PE [01] cannot take part in the exchange: it gives (8|16) bytes, others give (8|16)'
