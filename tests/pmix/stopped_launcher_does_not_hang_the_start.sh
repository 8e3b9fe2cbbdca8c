#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The launcher's server does not answer: a PE that comes to shmem_init then gives up at POSTERN_INIT_TIMEOUT, with a clear error.
# Spec: none; docs/environment.md, POSTERN_INIT_TIMEOUT
. "${0%/*}/lib.sh"
[ "$ENGINE" = srun ] && skip "the server is a daemon's"
export POSTERN_INIT_TIMEOUT=1s
launcher_of 1
command_run="${launcher[*]} $PE, stopped"
# Its output goes to a file, since nobody would pass it on.
"${launcher[@]}" sh -c 'echo ready >ready; while [ ! -e go ]; do sleep 0.05; done; exec "$0" init finalize >out 2>err' "$PE" >/dev/null 2>&1 </dev/null &
started=$!
until_true test -e ready || fail "the PE never was ready"
kill -STOP $started
touch go
complains() { grep -q 'could not join the job of a PMIx launcher.*PMIx_Init does not come back' "$work/err"; }
pe_is_gone() { ! pgrep -P "$started" >/dev/null || [ "$(ps -o stat= --ppid "$started" | cut -c1 | sort -u)" = Z ]; }
until_true complains || fail "no error"
has 'fix: start the program again'
until_true pe_is_gone || fail "the PE has not ended"
kill -KILL $started # mpirun does not recover from this
wait $started
nothing_left
