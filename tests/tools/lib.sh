# SPDX-License-Identifier: Apache-2.0
#
# For the tests of the tools, which source it. OSHRUN and PE come from ctest (or the caller): the launcher, and pe.c built.
set -u
: "${OSHRUN:?path of oshrun}" "${PE:?path of the program pe}"
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
unset SLURM_JOB_ID SLURM_JOBID # in an allocation oshrun would use it

# The process that is PE number $1.
pid_of_pe() {
    local pid
    for pid in $(marked); do
        grep -qzx "POSTERN_PE=$1" "/proc/$pid/environ" 2>/dev/null && echo "$pid" && return
    done
    fail "there is no PE $1"
}
state_of() { sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' "/proc/$1/status" 2>/dev/null; }
has_state() { [ "$(state_of "$1")" = "$2" ]; }
# Run a command to its end; status in rc, output in the files out and err. 60 s are a guard against hangs.
run() {
    command_run=$*
    timeout -k 1 60 "$@" >"$work/out" 2>"$work/err" </dev/null
    rc=$?
}
out_has() { grep -qE -- "$1" "$work/out" || fail "standard output lacks: $1"; }
err_has() { grep -qE -- "$1" "$work/err" || fail "standard error lacks: $1"; }
err_lacks() { ! grep -qE -- "$1" "$work/err" || fail "standard error has: $1"; }
err_empty() { [ ! -s "$work/err" ] || fail "standard error is not empty"; }
count() { # count N REGEX FILE
    local found
    found=$(grep -cE -- "$2" "$work/$3")
    [ "$found" = "$1" ] || fail "$found lines in $3 match $2, not $1"
}

# At once: for a normal or failed end of oshrun, which promises that nothing is left when it ends.
nothing_left() { nothing_marked || processes_are_left; }
# After a moment: when oshrun was killed, its guard does the work.
nothing_left_soon() { until_true nothing_marked || nothing_left; }

# Start in the background; until_line waits for its output. INT and QUIT are not ignored, as bash would do for a background command.
start() {
    command_run=$*
    : >"$work/out"
    : >"$work/err"
    python3 -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$@" >"$work/out" 2>"$work/err" </dev/null &
    started=$!
}
lines_there() { [ "$(grep -cE -- "$2" "$work/out")" -ge "$1" ]; }
until_lines() { until_true lines_there "$1" "$2" || fail "standard output never had $1 lines of: $2"; }
gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }
finish() {
    until_true gone "$started" || fail "oshrun has not ended"
    wait "$started"
    rc=$?
}
