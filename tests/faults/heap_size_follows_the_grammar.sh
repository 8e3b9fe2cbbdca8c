#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B11, spec 1.6 "Environment Variables": a decimal number, then optionally one letter; the text after the letter is ignored; at least the ceiling of
# the product is there. Anything else is refused with a message that names the variable and the value.
# Spec: OpenSHMEM 1.6 §8 Environment Variables, §9.1.1 shmem_init
. "${0%/*}/lib.sh"
fits() { # VALUE BYTES
    SHMEM_SYMMETRIC_SIZE=$1 run "$RING" fits "$2"
    [ "$rc" = 0 ] || fail "SHMEM_SYMMETRIC_SIZE=$1"
}
fits 4194304 4194304
fits 4096K 4194304
fits 3.1M 3250586
fits .5m 524288
fits 0.5m 524288
fits 200kk 204800
fits 20m 20971520
fits 0.05g 53687092
fits 0.00002T 21990233
for value in abc -5 K -1G +5 0x10 inf nan 1e6x "" " " M5 900000000T 99999999999999999999; do
    SHMEM_SYMMETRIC_SIZE=$value run "$RING"
    [ "$rc" = 1 ] || fail "SHMEM_SYMMETRIC_SIZE='$value' gives status $rc"
    err_has 'SHMEM_SYMMETRIC_SIZE|symmetric heap'
done
SMA_SYMMETRIC_SIZE=1M run "$RING" fits 1048576 # the old name
status 0
SMA_SYMMETRIC_SIZE=8M SHMEM_SYMMETRIC_SIZE=1M run "$RING" fits 1048576 # the new one wins
status 0
SHMEM_SYMMETRIC_SIZE=abc run "${JOB[@]}" -n 3 "$RING"
status 1
count 1 '^postern: .*SHMEM_SYMMETRIC_SIZE' err
