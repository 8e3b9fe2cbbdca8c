#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# B28: a job that is killed, from whichever side, leaves no process, no file and no SysV segment, and later jobs work.
# In a mount name space of its own /dev/shm belongs to this test alone, so that it must be empty in the end.
if [ -z "${INSIDE-}" ] && INSIDE=yes unshare -m true 2>/dev/null; then INSIDE=yes exec unshare -m "$0"; fi
. "${0%/*}/lib.sh"
if [ -n "${INSIDE-}" ]; then mount -t tmpfs none /dev/shm || skip "cannot mount"; fi

# Temporary files too: the folder for them is our own, as others use /tmp at the same time.
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
look() { ls -A /dev/shm | { [ -n "${INSIDE-}" ] && cat || grep -i postern; }; ls -A "$TMPDIR"; ipcs -m | awk -v me="$(id -un)" '$3 == me { print "segment " $2 }'; }
before=$(look)
unchanged() { [ "$(look)" = "$before" ] || fail "left behind: $(look)"; }

hold() {
    start "${JOB[@]}" -n 3 "$RING" hold
    until_lines 3 ready
}
for name in INT TERM KILL; do
    hold
    { kill -$name $started; wait $started; } 2>/dev/null
    nothing_left_soon
    unchanged
done
for who in 1 2 3; do # one PE, among them the first, which made the files
    hold
    kill -KILL "$(sed -n "${who}s/ready //p" out)"
    finish
    status 137
    nothing_left
    unchanged
    err_has 'PE [0-2] .* was ended by signal 9'
done
hold
kill -KILL $(sed 's/ready //' out)
finish
status 137
nothing_left
unchanged
for name in ABRT SEGV; do # with a core dump, where they are on: of the process, not left in a shared folder
    hold
    (cd / && kill -$name "$(sed -n '2s/ready //p' "$work/out")")
    finish
    nothing_left
    unchanged
done
for _ in $(seq 20); do ring_ok -n 2 "$RING" heap; done
unchanged
