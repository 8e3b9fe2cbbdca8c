/* SPDX-License-Identifier: Apache-2.0
 *
 * The first block waits for a signal of the last: for residency_1_ends_or_says_why.sh. Where all have room it passes.
 *
 * PES: 2
 */
#include "tests/device/device.h"

__global__ void first_waits_for_last(uint64_t *signal)
{
    if (blockIdx.x == gridDim.x - 1) shmem_signal_set(signal, 1, shmem_my_pe());
    if (blockIdx.x == 0) shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 1);
}

static void test(struct device_pe *pe)
{
    uint64_t *signal = (uint64_t *)device_allocate(pe, 8);
    DEVICE_RUN(pe, first_waits_for_last, 3, 1, signal);
}
