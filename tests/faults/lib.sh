# SPDX-License-Identifier: Apache-2.0
#
# For the scripts of this folder: those of tests/tools/lib.sh, and what follows. PE is words_travel_round_a_ring here.
. "${0%/*}/../tools/lib.sh"
RING=$PE
JOB=("$OSHRUN" --timeout 60)

skip() {
    echo "skipped: $*"
    exit 77
}
ring_ok() { # arguments of oshrun and the ring; the job must go well and say nothing
    run "${JOB[@]}" "$@"
    status 0
    err_empty
}
# The job went well, or it ended with a status of its own and a message that has a reason: never a signal.
ok_or_refused() {
    run "$@"
    [ "$rc" = 0 ] && return
    [ "$rc" -lt 124 ] || fail "ended by a signal, or not at all"
    err_has '^postern: '
    err_lacks 'signal|Sanitizer|Segmentation|Bus error'
}
