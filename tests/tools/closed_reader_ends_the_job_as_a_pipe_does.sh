#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
timeout 60 "$OSHRUN" -n 2 "$PE" lines=1000000,100 2>err | head -1 >out
rc=${PIPESTATUS[0]}
[ "$rc" = 141 ] || fail "status is $rc, not 141 (SIGPIPE)"
err_empty
nothing_left
