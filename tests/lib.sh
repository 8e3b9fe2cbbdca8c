# SPDX-License-Identifier: Apache-2.0
#
# For tests in shell that start processes: the folders' own lib.sh source it. It makes a working folder, $work, which the test runs in, and a mark in
# the environment, by which every process that a test has started is found, whoever its parent is now.
work=$(mktemp -d)
TEST_MARK=mark-$$-$RANDOM
export TEST_MARK
trap 'end_marked; rm -rf "$work"' EXIT
cd "$work" || exit 1

skip() {
    echo "skipped: $*"
    exit 77
}
fail() {
    echo "FAIL: $*"
    echo "--- status ${rc-} of: ${command_run-}"
    [ -s "$work/out" ] && { echo "--- standard output"; head -c 3000 "$work/out"; }
    [ -s "$work/err" ] && { echo "--- standard error"; head -c 3000 "$work/err"; }
    exit 1
}

# Processes with our mark, except this shell and what it runs right now.
marked() {
    local environ pid
    for environ in $(grep -lzx "TEST_MARK=$TEST_MARK" /proc/[0-9]*/environ 2>/dev/null); do
        pid=${environ#/proc/}
        pid=${pid%/environ}
        [ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
        # A zombie has ended; only its parent has not looked yet.
        grep -q '^State:[[:space:]]*[ZX]' "/proc/$pid/status" 2>/dev/null && continue
        [ "$(cut -d' ' -f4 "/proc/$pid/stat" 2>/dev/null)" = "$BASHPID" ] && continue
        [ -d "/proc/$pid" ] && echo "$pid"
    done
}
end_marked() {
    local pid
    for pid in $(marked); do kill -9 "$pid" 2>/dev/null; done
}
nothing_marked() { [ -z "$(marked)" ]; }
processes_are_left() { fail "processes are left: $(ps -o pid,ppid,pgid,stat,args -p "$(marked | tr '\n' ',' | sed 's/,$//')")"; }

# Wait until a command succeeds; a guard against hangs, no measure of speed.
until_true() {
    local tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || return 1
        sleep 0.05
    done
}

# What the last command has left: its status in rc, its output in the files out and err.
status() { [ "$rc" = "$1" ] || fail "status is $rc, not $1"; }
