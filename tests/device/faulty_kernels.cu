/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that are wrong, one per argument, for faulty_kernels_are_named.sh. Without an argument: nothing.
 *
 * PES: 0
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

__global__ void different_barriers()
{
    if (threadIdx.x < 16) __syncthreads();
    else if (threadIdx.x < 40) __syncwarp();
}

__global__ void wrong_mask()
{
    if (threadIdx.x == 5) __syncwarp(0x1fu);
}

__global__ void trapping()
{
    if (blockIdx.x == 2 && threadIdx.y == 3) __trap();
}

/* Block 0 waits for block 2. What ends a wait of SHMEM in time ends this one. */
__device__ int  word;
__global__ void waits_for_a_later_block()
{
    if (blockIdx.x == 2) __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
    for (int turns = 0; blockIdx.x == 0 && !__atomic_load_n(&word, __ATOMIC_ACQUIRE); turns++) {
        __nanosleep(1);
        if (turns == 300) shmemx_cpu_trap("has waited for too long");
    }
}

int main(int argc, char **argv)
{
    switch (argc > 1 ? atoi(argv[1]) : 0) {
    case 1: different_barriers<<<1, 64>>>(); break;
    case 2: wrong_mask<<<1, 32>>>(); break;
    case 3: trapping<<<dim3(4), dim3(2, 4)>>>(); break;
    case 4: waits_for_a_later_block<<<3, 1>>>(); break;
    case 5: return trapping<<<1, dim3(64, 32)>>>() == 0 ? 0 : 5;
    case 6: __syncthreads(); break;
    }
    cudaDeviceSynchronize();
    printf("went on\n");
    return 0;
}
