#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# postern-bench: a wrong option is one message from one PE, and status 2; what cannot be written or measured is status 1.
set -u
bin=$POSTERN_BIN
unset POSTERN_BIN # the library would take it for one of its variables, misspelt
failed=0

# refused STATUS REGEX ARGUMENTS...
refused() {
    local wanted=$1 regex=$2 text status=0
    shift 2
    text=$("$OSHRUN" -n 2 "$bin/postern-bench" "$@" 2>&1) || status=$?
    if [ $status != "$wanted" ] || [ "$(grep -cE -- "$regex" <<<"$text")" != 1 ] || ! grep -q 'fix: ' <<<"$text"; then
        echo "FAILED: $*: status $status, and not $wanted with one line like '$regex':"
        echo "$text"
        failed=1
    fi
}

refused 2 'unknown group: speed' speed
refused 2 'unknown group: speed' latency speed
refused 2 'unknown option, or one without its value: --fast' --fast
refused 2 'unknown option, or one without its value: --sizes' latency --sizes
for sizes in 0 8:4 x 8:x -1 8:2G 99999999999999999999; do refused 2 '--sizes wants A:B' --sizes "$sizes"; done
for samples in 0 -1 x 10002 1x; do refused 2 '--samples wants' --samples "$samples"; done
refused 1 'nothing was measured' latency --only nothing_like_it
refused 1 'could not write /nonexistent/a.json' latency --only fence --json /nonexistent/a.json
refused 1 'no operation was measured at two sizes' latency --only fence --plot /tmp/a.svg
exit $failed
