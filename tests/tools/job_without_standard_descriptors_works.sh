#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
"$OSHRUN" -n 2 "$PE" open gather=8 puts=text close <&- >&- 2>&- || fail "status $?"
