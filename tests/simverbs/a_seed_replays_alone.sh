#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A seed makes the same choices whatever seeds came before it in the same processes: what failed in a long run is replayed by its number.
set -u
: "${STRESS:?program stress}" "${TRANSPORT_PATH:?folder of transport_ibverbs.so}"
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# replays PROGRAM ARGUMENTS: 12 seeds, then four of them alone
replays() {
    local program=$1 kind=$2
    # shellcheck disable=SC2086 # several words
    "$program" --path "$TRANSPORT_PATH" $kind --seeds 12 --verbose >out 2>err || fail "12 seeds of $kind"
    grep ' steps, ' err >all
    [ "$(sort -u -k6,6 all | wc -l)" = 12 ] || fail "different seeds make the same choices"
    for seed in 1 5 9 12; do
        # shellcheck disable=SC2086
        "$program" --path "$TRANSPORT_PATH" $kind --seed $seed --verbose >out 2>err || fail "seed $seed of $kind"
        grep ' steps, ' err >alone
        grep -qxF "$(cat alone)" all || fail "seed $seed of $kind alone: $(cat alone), among others: $(grep "^seed $seed:" all)"
    done
}
replays "$STRESS" "--pes 2"
replays "$STRESS" "--pes 3 --vanish"
[ -z "${JOB-}" ] || for kind in "--pes 2" "--pes 3 --kill"; do
    replays "$JOB" "$kind"
done
