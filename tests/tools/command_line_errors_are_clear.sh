#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
. "${0%/*}/lib.sh"
refused() { # status, regex, arguments
    local want=$1 regex=$2
    shift 2
    run "$OSHRUN" "$@"
    status "$want"
    err_has "$regex"
    count 1 '^postern: ' err
    [ ! -s out ] || fail "something ran"
}
refused 2 'program to run is missing'
refused 2 'program to run is missing' -n 2
refused 2 'unknown option "--frobnicate"' -n 2 --frobnicate true
refused 2 'unknown option "-x"' -x true
for number in 0 -1 x 2x '' 1048577 99999999999999999999 1.5; do refused 2 "not \"$number\"" -n "$number" echo ran; done
for option in -n --hosts --engine --engine-args --rsh-agent; do refused 2 "value is missing after \"$option\"" "$option"; done
refused 2 'not "0"' --timeout 0 echo ran
refused 2 'not "soon"' --timeout soon echo ran
refused 2 'not "KEY"' --env KEY echo ran
refused 2 'not "=x"' --env =x echo ran
refused 2 'not "socket"' --bind socket echo ran
refused 127 'no such program in PATH' no-such-program-here
refused 127 'no such file' ./no-such-file
touch data
refused 126 'not executable' ./data
refused 126 'it is a folder' "$work"
printf '#!/no/such/interpreter\n' >script
chmod +x script
refused 127 'interpreter' ./script
cp script tools-test-script
refused 127 'write ./tools-test-script' tools-test-script
printf '\177ELF\002\001\001' >binary
chmod +x binary
refused 126 'Exec format' ./binary
