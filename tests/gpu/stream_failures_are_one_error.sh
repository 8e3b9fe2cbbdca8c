#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Each call of the driver that operations on a stream make fails once: the job ends with one error, which names the operation and the driver's
# call, and does not hang. usage: this OSHRUN PROGRAM
set -u
oshrun=$1 program=$2 wrong=0
for call in cuMemcpyAsync cuStreamWriteValue64_v2 cuStreamWaitValue64_v2 cuStreamIsCapturing cuDeviceGetAttribute cuMemHostAlloc \
    cuMemHostGetDevicePointer_v2 cuLaunchHostFunc cuCtxSynchronize cuMemFreeHost; do
    before=$("$oshrun" -n 1 "$program" "$call" | sed -n 's/^calls: //p')
    out=$(SIMCUDA_FAIL=$call:$((before + 1)):304 timeout 60 "$oshrun" -n 1 "$program" 2>&1)
    status=$?
    errors=$(grep -c '^postern: PE 0: ' <<<"$out")
    if [ "$status" = 0 ] || [ "$status" -ge 124 ] || [ "$errors" != 1 ] || ! grep -q "_on_stream\|shmem_finalize" <<<"$out" ||
        ! grep -q "${call%_v2}.*CUDA_ERROR_OPERATING_SYSTEM" <<<"$out"; then
        printf '%s, call %s: status %s, %s errors\n%s\n\n' "$call" $((before + 1)) "$status" "$errors" "$out"
        wrong=1
    fi
done
exit $wrong
