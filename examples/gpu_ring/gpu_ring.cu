/* SPDX-License-Identifier: Apache-2.0
 *
 * A ring of kernels: an array goes from GPU to GPU, several times round, without the host. Each PE's kernel waits until the array has
 * arrived, adds its number to all elements, and puts it on together with a signal.
 *
 * Shows put_signal by a whole block: its threads move the data together, and the signal is seen after all of them. Kernels that wait for
 * each other must run at the same time, on all PEs: one block for each PE always can; more are started by shmemx_collective_launch.
 *
 *     nvcc gpu_ring.cu $(pkg-config --cflags --libs postern) -o gpu_ring     on a machine with a GPU
 *     oshcc --device-on-cpu gpu_ring.cu -o gpu_ring                          on any other
 *     oshrun -n 4 ./gpu_ring
 */
#include <cuda_runtime.h>
#include <shmem.h>
#include <shmem_device.cuh>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

enum { ELEMENTS = 1000, ROUNDS = 20, THREADS = 128 };

/* Memory that kernels of all PEs reach: the GPU heap; on CPU threads the host heap. */
static void *kernel_malloc(size_t bytes)
{
#ifdef SHMEM_DEVICE_ON_CPU
    return shmem_malloc(bytes);
#else
    return shmem_malloc_with_hints(bytes, SHMEMX_MEM_CUDA);
#endif
}

/* The array is in one place at a time, so nobody writes mine while I read it. arrived counts the rounds. */
__global__ void pass_on(long *array, uint64_t *arrived, int rounds)
{
    int me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    for (int round = 1; round <= rounds; round++) {
        bool begins = me == 0 && round == 1;
        if (threadIdx.x == 0 && !begins) shmem_signal_wait_until(arrived, SHMEM_CMP_GE, (uint64_t)(me == 0 ? round - 1 : round));
        __syncthreads(); /* one thread has seen the signal: now all see the data */
        for (int i = (int)threadIdx.x; i < ELEMENTS; i += (int)blockDim.x) array[i] += me;
        shmemx_long_put_signal_block(array, array, ELEMENTS, arrived, 1, SHMEM_SIGNAL_ADD, next);
    }
    /* The last one has put it to PE 0. */
    if (threadIdx.x == 0 && me == 0) shmem_signal_wait_until(arrived, SHMEM_CMP_GE, (uint64_t)rounds);
}

int main()
{
    shmem_init();
    int       me = shmem_my_pe(), npes = shmem_n_pes();
    long     *array   = (long *)kernel_malloc(ELEMENTS * sizeof(long));
    uint64_t *arrived = (uint64_t *)kernel_malloc(sizeof(uint64_t));
    if (!array || !arrived) {
        fprintf(stderr, "gpu_ring: there is no memory for the array on the GPU\n");
        shmem_global_exit(1);
    }
    cudaMemset(array, 0, ELEMENTS * sizeof(long));
    cudaMemset(arrived, 0, sizeof(uint64_t));
    cudaDeviceSynchronize();
    shmem_barrier_all();

    pass_on<<<1, THREADS>>>(array, arrived, ROUNDS);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) {
        fprintf(stderr, "gpu_ring: the kernel of PE %d failed: %s\n", me, cudaGetErrorString(error));
        shmem_global_exit(1);
    }

    int status = 0;
    if (me == 0) {
        static long result[ELEMENTS];
        long        wanted = (long)ROUNDS * npes * (npes - 1) / 2;
        cudaMemcpy(result, array, sizeof result, cudaMemcpyDefault);
        for (int i = 0; i < ELEMENTS; i++) status |= result[i] != wanted;
        printf("%d PEs, %d rounds: %s (%ld in each element, %ld wanted)\n", npes, ROUNDS, status ? "WRONG" : "right", result[0],
               wanted);
    }
    shmem_finalize();
    return status;
}
