#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Each refusal names the option and has a status of its own; --help and --version print and look at nothing.
. "${0%/*}/doctor_lib.sh"
refused() {
    status 3
    [ ! -s out ] || fail "standard output is not empty"
    err_has "$1"
    count 1 '^    fix: ' err
}
run "$doctor" --jsn
refused '^postern-doctor: unknown option --jsn$'
run "$doctor" --root
refused '^postern-doctor: no value after --root$'
run "$doctor" --rootless
refused '^postern-doctor: unknown option --rootless$'
run "$doctor" --root "$work/none"
refused "cannot look below $work/none: No such file or directory"
: >file
run "$doctor" --root=file
refused 'cannot look below file: Not a directory'
run "$doctor" --version
status 0
count 1 '^postern-doctor, Postern [0-9]+\.[0-9]+\.[0-9]+$' out
run "$doctor" --help
status 0
out_has '^EXIT STATUS$'
if [ -c /dev/full ]; then
    "$doctor" >/dev/full 2>"$work/err"
    rc=$?
    status 3
    err_has 'could not write: No space left on device'
fi
