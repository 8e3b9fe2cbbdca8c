#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
command -v valgrind >/dev/null || { echo "valgrind is not installed"; exit 77; }
case $(nm -D "$PE" 2>/dev/null) in *__asan_init* | *__tsan_init*) echo "sanitizers do not run under valgrind"; exit 77 ;; esac
start "$OSHRUN" -n 2 sh -c 'valgrind -q "$0" "$@"; :' "$PE" open gather=0 puts=ready wait
until_lines 2 ready
kill -9 $started
nothing_left_soon
