#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
mkfifo pipe
sleep 1000 <pipe &
reader=$!
"$OSHRUN" -n 2 "$PE" lines=1000000,100 >pipe 2>err &
started=$!
sleep 0.5
kill -TERM $started
finish
kill $reader
status 143
