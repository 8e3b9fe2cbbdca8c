#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Without the PMIx library, or without the module, a job of a PMIx launcher is one clear error, never PEs that are each alone. Asked for by
# name, PMIx without a launcher is an error, too.
# Spec: none; docs/running.md
. "${0%/*}/lib.sh"
export POSTERN_PMIX_LIBRARY=/nowhere/libpmix.so.2
run_failing 'could not join the job of a PMIx launcher' 'why: the PMIx library cannot be loaded: /nowhere/libpmix.so.2' \
    'fix: install it \(Debian: libpmix2\), or say where it is: POSTERN_PMIX_LIBRARY=' -- 3 init alone finalize
at_most_once 'could not join the job of a PMIx launcher'
POSTERN_PMIX_LIBRARY=libc.so.6 run_failing 'libc.so.6 has no function PMIx_Init' -- 2 init alone finalize
unset POSTERN_PMIX_LIBRARY

# A copy of the library has no modules beside it.
mkdir "$work/lib"
cp -L "${LIBPOSTERN:?}" "$work/lib/libpostern.so.0"
LD_LIBRARY_PATH=$work/lib run_failing "why: there is no $work/lib/postern/bootstrap_pmix.so: the library was built without PMIx" -- \
    3 init alone finalize
at_most_once 'could not join the job of a PMIx launcher'

POSTERN_BOOTSTRAP=self run 2 init alone finalize
status 0
command_run="POSTERN_BOOTSTRAP=pmix $PE, by hand"
POSTERN_BOOTSTRAP=pmix timeout 60 env -u PMIX_RANK -u PMIX_NAMESPACE "$PE" init finalize >"$work/out" 2>"$work/err"
rc=$?
status_is_a_failure
has 'POSTERN_BOOTSTRAP is "pmix", and PMIX_RANK'
has 'fix: start it with mpirun, "srun --mpi=pmix" or prterun'
