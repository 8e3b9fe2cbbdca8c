#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
[ -c /dev/full ] || { echo "no /dev/full"; exit 77; }
timeout 60 "$OSHRUN" -n 2 "$PE" lines=100000,100 >/dev/full 2>err
rc=$?
[ $rc != 0 ] || fail "status 0"
count 1 'could not write the output of the PEs: No space left on device' err
timeout 60 "$OSHRUN" -n 2 "$PE" puts=short >/dev/full 2>err
rc=$?
[ $rc != 0 ] || fail "status 0"
nothing_left
