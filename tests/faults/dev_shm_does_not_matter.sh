#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B30: /dev/shm of 16 MiB under a heap of 64 MiB that is written in full, full, read-only, and none at all: memory is taken elsewhere.
[ -n "${INSIDE-}" ] || { unshare -m true 2>/dev/null && INSIDE=yes exec unshare -m "$0"; }
. "${0%/*}/lib.sh"
[ -n "${INSIDE-}" ] || skip "mount name spaces are not allowed"
export SHMEM_SYMMETRIC_SIZE=64M
mount -t tmpfs -o size=16m none /dev/shm || skip "cannot mount"
ring_ok -n 2 "$RING" fill
head -c 16M /dev/zero >/dev/shm/full 2>/dev/null
ring_ok -n 2 "$RING" fill
mount -o remount,ro /dev/shm || skip "cannot remount"
ring_ok -n 2 "$RING" fill
mkdir dev
mount -t tmpfs none dev
for name in null zero urandom; do
    : >"dev/$name"
    mount --bind "/dev/$name" "dev/$name"
done
mount --move dev /dev 2>/dev/null || mount --rbind dev /dev || skip "cannot mount over /dev"
[ ! -e /dev/shm ] || fail "/dev/shm is still there"
ring_ok -n 2 "$RING" fill
for mode in small memfd; do POSTERN_PAGES=$mode ok_or_refused "${JOB[@]}" -n 2 "$RING" fill; done
