#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Each call of the driver that a start makes fails in turn, on every PE alike. Where a GPU heap was asked for, the job starts all the same (the call was
# for something that can be done without), or no PE starts, one message says why, and nothing is left. Where nothing was asked for, it always starts.
. "$(dirname "$0")/lib.sh"

calls='cuInit cuDriverGetVersion cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceGetAttribute cuDeviceGetUuid_v2 cuDeviceGetPCIBusId
cuDevicePrimaryCtxRetain cuCtxPushCurrent_v2 cuMemGetInfo_v2 cuMemGetAllocationGranularity cuStreamCreate cuMemAddressReserve cuMemCreate cuMemMap
cuMemSetAccess cuMemExportToShareableHandle cuMemImportFromShareableHandle cuMemGetHandleForAddressRange cuMemHostAlloc cuModuleLoadData
cuModuleGetFunction'

for call in $calls; do
    run "SIMCUDA_FAIL=$call:1" POSTERN_CUDA_HEAP=4M -- 2
    clean
    if [ "$status" = 0 ]; then
        has '^with a GPU heap' || complain "$call: started without the GPU heap that was asked for"
    else
        [ "$(count '    why: ')" = 1 ] || complain "$call: not one message"
        has 'wrong value\|Segmentation\|has not ended' && complain "$call: not a clean refusal"
    fi
done

# The second stream, and the peer's part: mapping that fails is a degradation, and the bytes arrive all the same.
for call in cuStreamCreate:2 cuMemMap:2 cuMemSetAccess:2 cuMemImportFromShareableHandle:1; do
    run "SIMCUDA_FAIL=$call" POSTERN_CUDA_HEAP=4M POSTERN_REPORT=1 -- 2 put
    clean
    has 'wrong value' && complain "$call: bytes are lost"
    case $call in
    cuStreamCreate*) [ "$status" != 0 ] || complain "$call: started" ;;
    *)
        [ "$status" = 0 ] || complain "$call: did not start"
        has 'gpu-p2p *degraded' || complain "$call: the report does not say that a heap is not mapped"
        ;;
    esac
done

# Nothing was asked for: PEs without GPU memory are PEs all the same.
for call in cuInit cuDevicePrimaryCtxRetain cuMemCreate cuMemMap cuMemExportToShareableHandle; do
    run "SIMCUDA_FAIL=$call:1" POSTERN_REPORT=1 -- 2
    clean
    [ "$status" = 0 ] || complain "$call: no start, though no GPU heap was asked for"
    has '^without a GPU heap' || complain "$call: a GPU heap all the same"
    has ' *\(cuda\|gpu-heap\) *\(absent\|degraded\)' || complain "$call: the report does not say so"
done
finish
