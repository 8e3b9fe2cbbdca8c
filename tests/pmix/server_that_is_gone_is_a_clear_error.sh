#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The launcher's variables are there, and its server is not: left over in a shell, or in another container.
# Spec: none; docs/running.md
. "${0%/*}/lib.sh"
launcher_of 1
"${launcher[@]}" env 2>/dev/null | grep -E '^PMIX_' >"$work/variables"
grep -q '^PMIX_RANK=' "$work/variables" || fail "no PMIX_RANK"
mapfile -t variables <"$work/variables"
command_run="$PE with the variables of a job that has ended"
timeout -k 2 100 env "${variables[@]}" "$PE" init alone finalize >"$work/out" 2>"$work/err" </dev/null
rc=$?
status_is_a_failure
has 'could not join the job of a PMIx launcher'
has 'fix: start the program again; without a launcher, unset PMIX_RANK or set POSTERN_BOOTSTRAP=self'
