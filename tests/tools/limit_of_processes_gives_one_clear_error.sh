#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
[ "$(id -u)" = 0 ] || { echo "needs root, to become another user"; exit 77; }
command -v setpriv >/dev/null || { echo "setpriv is not installed"; exit 77; }
cp "$OSHRUN" "$PE" . && chmod 755 . oshrun pe
run setpriv --reuid 54321 --regid 54321 --clear-groups bash -c 'ulimit -u 5; exec ./oshrun -n 20 --bind none ./pe sleep=100'
status 1
count 1 '^postern: ' err
err_has 'could not start PE [0-9]+ of 20'
err_has 'ulimit -u'
nothing_left
