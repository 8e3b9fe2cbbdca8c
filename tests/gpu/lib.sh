# SPDX-License-Identifier: Apache-2.0
#
# For the scripts of this folder: LIBCUDA is the folder of the stand-in driver, BIN the tools, STARTS the program. run K=V... -- N [ARGUMENT...]
# runs it on N PEs; `out` holds what it wrote, `status` its exit status. The driver is the stand-in, whose memory no CPU may touch.
set -u
failures=0

run() {
    settings=
    while [ "$1" != -- ]; do
        settings="$settings $1"
        shift
    done
    shift
    pes=$1
    shift
    # shellcheck disable=SC2086 # settings are words without blanks
    out=$(env POSTERN_CUDA=1 SIMCUDA_PROTECT=1 "LD_LIBRARY_PATH=$LIBCUDA" $settings \
        "$BIN/oshrun" -n "$pes" --timeout 30 "$STARTS" "$@" 2>&1)
    status=$?
}

# complain TEXT: the last run was not as it should be.
complain() {
    failures=$((failures + 1))
    printf '%s\n    settings:%s\n    status %s, output:\n%s\n\n' "$1" "$settings" "$status" "$out"
}

has() { printf '%s\n' "$out" | grep -q -- "$1"; }
count() { printf '%s\n' "$out" | grep -c -- "$1"; }

# The driver was used as it should be, and nothing is left.
clean() { has '^simcuda:' && complain 'the stand-in driver complains'; }

finish() {
    [ "$failures" = 0 ] || echo "$failures wrong"
    [ "$failures" = 0 ]
}
