#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Where there is no GPU gpu-test says so, and what to do; it builds nothing and is no failure.
set -uo pipefail
out=$1
text=$(PATH=/usr/bin:/bin "$(dirname "$0")/gpu-test" --out "$out" 2>&1 </dev/null)
status=$?
if command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null 2>&1; then
    echo "skipped: this machine has a GPU"
    exit 77
fi
[ $status = 77 ] || { echo "wrong: status $status: $text" >&2; exit 1; }
[[ $text = *"there is no GPU here"*"fix:"* ]] || { echo "wrong: $text" >&2; exit 1; }
[ ! -e "$out" ] || { echo "wrong: it left $out" >&2; exit 1; }
"$(dirname "$0")/gpu-test" --minutes ten >/dev/null 2>&1
[ $? = 2 ] || { echo "wrong: --minutes ten is accepted" >&2; exit 1; }
