#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Sizes of the GPU heap: asked for, by default, too large for the GPU's PEs together, none. Which GPU a PE takes. POSTERN_REQUIRE=gdr refuses the
# way through host memory, and takes the one that the device has. A machine without a driver starts, and says so in one line.
. "$(dirname "$0")/lib.sh"

run POSTERN_CUDA_HEAP=3M POSTERN_REPORT=1 -- 2
has 'gpu-heap *present *4 MiB for each PE in units of 2048 KiB' || complain 'a size is rounded up to whole units'
run POSTERN_REPORT=1 -- 2
has 'gpu-heap *present *128 MiB' || complain 'by default a PE gets a quarter of its share of what is free'
run POSTERN_CUDA_HEAP=0 POSTERN_REPORT=1 -- 2
{ [ "$status" = 0 ] && has '^without a GPU heap'; } || complain 'size 0 is none'
run POSTERN_CUDA_HEAP=600M -- 2
{ [ "$status" != 0 ] && has 'do not fit (600 MiB' && has 'lower POSTERN_CUDA_HEAP to 512 MiB' && [ "$(count '    why: ')" = 1 ]; } ||
    complain 'two PEs ask one GPU for more than it has'
run POSTERN_CUDA_HEAP=600M SIMCUDA_DEVICES=2 -- 2
[ "$status" = 0 ] || complain 'each on a GPU of its own has room'
run POSTERN_HEAP=cuda POSTERN_CUDA_HEAP=0 -- 1
{ [ "$status" != 0 ] && has 'POSTERN_HEAP is cuda, and POSTERN_CUDA_HEAP is 0'; } || complain 'no heap, and all from it'

run SIMCUDA_DEVICES=3 POSTERN_CUDA_DEVICE=2 POSTERN_REPORT=1 -- 2
has 'cuda *present *GPU 2 ' || complain 'the GPU that was asked for'
run SIMCUDA_DEVICES=2 POSTERN_CUDA_DEVICE=2 POSTERN_CUDA_HEAP=4M -- 2
{ [ "$status" != 0 ] && has 'POSTERN_CUDA_DEVICE is 2, and GPUs 0 to 1 are visible' && [ "$(count '    why: ')" = 1 ]; } ||
    complain 'a GPU that is not there'
run SIMCUDA_DEVICES=0 POSTERN_REPORT=1 -- 2
{ [ "$status" = 0 ] && has 'cuda *absent'; } || complain 'a driver without GPUs'
run LD_LIBRARY_PATH=/ POSTERN_REPORT=1 -- 2
{ [ "$status" = 0 ] && has 'cuda *absent *libcuda.so.1' && [ "$(count '^  cuda ')" = 1 ]; } || complain 'no driver is one line of the report'
run LD_LIBRARY_PATH=/ POSTERN_CUDA_HEAP=4M -- 2
{ [ "$status" != 0 ] && has 'without a GPU on every PE' && [ "$(count '    why: ')" = 1 ]; } || complain 'a heap without a driver'
run POSTERN_CUDA=0 -- 2
{ [ "$status" = 0 ] && has '^without a GPU heap'; } || complain 'switched off'

run POSTERN_REQUIRE=gdr POSTERN_CUDA_HEAP=4M -- 2
{ [ "$status" != 0 ] && has 'cannot start without gdr' && [ "$(count '    why: ')" = 1 ]; } || complain 'no network, and gdr is required'
if [ -n "$CHAOS" ]; then
    nodes="POSTERN_NODE=a,b POSTERN_TRANSPORTS=shm,chaos POSTERN_TRANSPORT_PATH=$CHAOS POSTERN_CUDA_HEAP=4M"
    # shellcheck disable=SC2086
    run $nodes -- 2 put
    { [ "$status" = 0 ] && has 'GPU memory goes through host memory' && has 'POSTERN_REQUIRE=gdr refuses'; } ||
        complain 'a degradation is said with its cause and its fix'
    # shellcheck disable=SC2086
    run $nodes POSTERN_REQUIRE=gdr -- 2 put
    { [ "$status" != 0 ] && has 'cannot start without gdr.*degraded'; } || complain 'and refused where gdr is required'
    clean
    # shellcheck disable=SC2086
    run $nodes POSTERN_REQUIRE=rdma -- 2
    { [ "$status" != 0 ] && has 'cannot start without rdma.*degraded' && [ "$(count '    why: ')" -le 3 ]; } || complain 'rdma is required'
fi

# What one PE alone lacks ends all, and that PE says it.
real=$STARTS
STARTS=sh
run POSTERN_CUDA_HEAP=4M -- 2 -c "[ \$POSTERN_PE = 0 ] || export SIMCUDA_FAIL=cuMemCreate:1; exec $real"
{ [ "$status" != 0 ] && has 'PE 1: could not allocate the GPU heap' && [ "$(count '    why: ')" = 1 ]; } || complain 'one PE has no part'
clean
run POSTERN_CUDA_HEAP=4M -- 2 -c "[ \$POSTERN_PE = 0 ] || export SIMCUDA_DEVICES=0; exec $real"
{ [ "$status" != 0 ] && has 'PE 1 on .* has none that can be used' && [ "$(count '    why: ')" = 1 ]; } || complain 'one PE has no GPU'
clean
run POSTERN_REQUIRE=cuda POSTERN_CUDA_HEAP=auto -- 2 -c "[ \$POSTERN_PE = 0 ] || export POSTERN_CUDA=0; exec $real"
{ [ "$status" != 0 ] && has 'PE 1: cannot start without cuda' && [ "$(count '    why: ')" = 1 ]; } || complain 'one PE lacks what is required'
clean
STARTS=$real
finish
