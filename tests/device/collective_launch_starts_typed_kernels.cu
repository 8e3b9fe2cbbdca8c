/* SPDX-License-Identifier: Apache-2.0
 *
 * shmemx_collective_launch starts a kernel with its arguments on all PEs, whose blocks wait for each other across PEs; a grid that has no room is
 * refused on all.
 *
 * PES: 2
 * ENV: POSTERN_CPU_BLOCKS=6
 */
#include "tests/device/device.h"

/* Block b of each PE waits for block b + 1 of the other, and the last for nobody. */
__global__ void chain(uint64_t *words, char one, double two)
{
    const int other = shmem_n_pes() - 1 - shmem_my_pe();
    CHECK(one == 1 && two == 2.5);
    if (blockIdx.x + 1 < gridDim.x) shmem_signal_wait_until(&words[blockIdx.x + 1], SHMEM_CMP_EQ, 1);
    shmem_signal_set(&words[blockIdx.x], 1, other);
}

static void test(struct device_pe *pe)
{
    uint64_t *words  = (uint64_t *)device_allocate(pe, 64);
    char      one    = 1;
    double    two    = 2.5;
    void     *args[] = {&words, &one, &two};
#ifdef __CUDACC__
    const void *kernel = (const void *)chain;
#else
    void (*kernel)(uint64_t *, char, double) = chain;
#endif
    if (shmemx_collective_launch(kernel, shmemx_dim3_t{6, 1, 1}, shmemx_dim3_t{1, 1, 1}, args, 0, nullptr) != 0) abort();
    cudaDeviceSynchronize();
#ifndef __CUDACC__ /* which has room for more than POSTERN_CPU_BLOCKS */
    if (shmemx_collective_launch(kernel, shmemx_dim3_t{7, 1, 1}, shmemx_dim3_t{1, 1, 1}, args, 0, nullptr) == 0) abort();
#endif
}
