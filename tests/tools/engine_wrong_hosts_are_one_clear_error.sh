#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Spec: none; the standard leaves it to the launcher where PEs run.
. "${0%/*}/engine_lib.sh"
fake_orte
wrong() { # what --hosts is given, what the error says
    run_faked "$OSHRUN" --hosts "$1" ./program
    one_error 2 "$2"
}
wrong '' 'wrong host ""'
wrong a,,b 'wrong host ""'
wrong a, 'wrong host ""'
for slots in '' 0 -1 x 2x 1.5 +2 ' 2' 1048577 99999999999999999999; do wrong "a:$slots" "number of slots, 1 to 1048576"; done
wrong a:1048576,b 'wrong host "b"'
wrong 'a[1-3]' 'wrong host "a\[1-3\]"'
wrong 'a b' 'no host name'
wrong -a 'no host name'
wrong 'user@a' 'no host name'
wrong fd00::1 'must stand in brackets'
wrong '[fd00::1' 'bracket is not closed'
wrong '[fd00::1]2' 'NAME:2'
wrong '[fd00::1]:' 'number of slots'
wrong '[a]' 'only an IPv6 address'
wrong '[]' 'only an IPv6 address'
wrong ./no-file 'could not read "./no-file": No such file'
wrong "$work" 'could not read .*: Is a directory'

line() { # the second line of a file, what the error says
    printf 'ok\n%s\n' "$1" >file
    run_faked "$OSHRUN" --hosts file ./program
    one_error 2 "--hosts: file, line 2: wrong host \"$1\""
    err_has "$2"
}
line 'a:0' 'number of slots'
line 'a slots=0' 'slots= takes'
line 'a slots=' 'slots= takes'
line 'a:2 slots=2' 'only slots=N may stand, once'
line 'a slots=2 slots=2' 'only slots=N may stand, once'
line 'a b' 'only slots=N may stand, once'
line 'a,b' 'no host name'
line 'fd00::1' 'must stand in brackets'
printf '# nothing\n\n' >file
run_faked "$OSHRUN" --hosts file ./program
one_error 2 'file names no host'
