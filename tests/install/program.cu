/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest program with a SHMEM kernel: each PE puts its number to the next one, from the GPU.
 */
#include <shmem.h>
#include <shmem_device.cuh>
#include <stdio.h>

__global__ void tell_next(long *words)
{
    shmem_put(words, words + 1, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
}

int main()
{
    shmem_init();
    long  me = shmem_my_pe(), told = -1;
    long *words = (long *)shmem_malloc_with_hints(2 * sizeof(long), SHMEMX_MEM_CUDA);
    cudaMemcpy(words + 1, &me, sizeof me, cudaMemcpyDefault);
    shmem_barrier_all();
    tell_next<<<1, 1>>>(words);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        printf("PE %ld: the kernel failed: %s\n", me, cudaGetErrorString(error));
        shmem_global_exit(1);
    }
    cudaMemcpy(&told, words, sizeof told, cudaMemcpyDefault);
    printf("PE %ld of %d was told %ld\n", me, shmem_n_pes(), told);
    shmem_finalize();
    return 0;
}
