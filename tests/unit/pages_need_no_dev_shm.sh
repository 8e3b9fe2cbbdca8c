#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A tiny, a read-only and an absent /dev/shm, and a full /tmp, do not matter. Fault B30.
# usage: pages_need_no_dev_shm.sh PROGRAM     (one that makes and fills files for heaps)
program=$1
private="unshare --mount"
[ "$(id -u)" = 0 ] || private="unshare --mount --map-root-user"
if ! $private true 2>/dev/null; then
    echo "skipped: may not make a private mount namespace"
    exit 77
fi
failed=0
# try WHAT COMMANDS: the commands, then the program, in a mount namespace of their own.
try() {
    echo "$1"
    $private sh -c "$2"' && exec "$0"' "$program" || failed=1
}
try "/dev/shm of 64 KiB" 'mount -t tmpfs -o size=64k tmpfs /dev/shm'
try "/dev/shm that is read-only" 'mount -t tmpfs -o ro,size=64k tmpfs /dev/shm'
try "no /dev/shm" 'mount -t tmpfs -o size=64k tmpfs /dev'
case $program in
/tmp/*) ;; # it would hide the program
*) try "/tmp of one page" 'mount -t tmpfs -o size=4k tmpfs /tmp' ;;
esac
exit $failed
