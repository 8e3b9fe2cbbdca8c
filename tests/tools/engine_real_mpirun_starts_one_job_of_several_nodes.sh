#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A program of the library under the real mpirun: its processes find each other, and POSTERN_... variables reach them.
# Spec: OpenSHMEM 1.6 §B.2 Running Programs
build=${POSTERN_BIN:?folder of the tools}/.. # engine_lib.sh takes such variables away
. "${0%/*}/engine_lib.sh"
mpirun --version 2>/dev/null | grep -q 'Open MPI' || { echo "skipped: no Open MPI (apt install openmpi-bin)"; exit 77; }
[ -e "$build/lib/postern/bootstrap_pmix.so" ] || { echo "skipped: built without PMIx (libpmix-dev)"; exit 77; }
[ -e "$build/lib/postern/transport_libfabric.so" ] || { echo "skipped: built without libfabric (libfabric-dev)"; exit 77; }
[ -x "$build/examples/hello/hello" ] || { echo "skipped: built without the examples"; exit 77; }
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 # libpmix leaks
export POSTERN_NODE=a,b # pretend nodes, so that one machine is enough
run "$OSHRUN" --engine mpirun --hosts localhost:3 --env POSTERN_REPORT=1 "$build/examples/hello/hello"
status 0
count 3 '^Hello from PE [0-2] of 3$' out
count 1 '^PE 0 was greeted by 3 of 3 PEs$' out
grep -hE '^ *job ' out err | grep -qE '3 PEs on 2 nodes.*started by mpirun \(PMIx' || fail "the report tells of another job"
nothing_left_soon
