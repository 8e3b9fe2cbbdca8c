/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of device code. A test is `static void test(struct device_pe *pe)`, which allocates, launches kernels and meets the others; its
 * kernels check what they see, and never the host: its memory may be a GPU's.
 *
 * PEs are processes of a job. With DEVICE_IN_PROCESS they are threads of one process, and the kernels of each have a device state of their own
 * (in_process.h): ThreadSanitizer sees what PEs do to each other then.
 */
#ifndef POSTERN_TESTS_DEVICE_H
#define POSTERN_TESTS_DEVICE_H

#include <shmem_device.cuh>

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device_pe {
    int          me, n;
    cudaStream_t stream;
    const void  *state; /* of launches, in one process */
    char        *heap;
    size_t       used;
};

__device__ int device_failures;

/* The first few tell the story. */
__device__ static inline void device_check(bool holds, const char *file, int line, const char *text, const char *what)
{
    if (holds || atomicAdd(&device_failures, 1) >= 20) return;
    printf("PE %d, block %u, thread %u: %s:%d: %s: does not hold: %s\n", shmem_my_pe(), blockIdx.x, threadIdx.x, file, line, what,
           text);
}

/* In kernels. AND: with a word about which type or call it is. */
#define CHECK_AND(condition, what) device_check(condition, __FILE__, __LINE__, #condition, what)
#define CHECK(condition)           CHECK_AND(condition, "")

/* ---- what differs ---------------------------------------------------------------------------------------------------- */

#ifdef DEVICE_IN_PROCESS
#include "tests/device/in_process.h"
#else

/* All PEs have come here, and what the kernels before did is done. */
static inline void device_meet(struct device_pe *pe)
{
    (void)pe;
    shmem_barrier_all();
}

/* Symmetric memory of zeros. */
static inline void *device_allocate(struct device_pe *pe, size_t bytes)
{
    (void)pe;
#ifdef __CUDACC__
    void *memory = shmem_malloc_with_hints(bytes, SHMEMX_MEM_CUDA);
    if (memory) cudaMemset(memory, 0, bytes);
#else
    void *memory = shmem_calloc(bytes, 1);
#endif
    shmem_barrier_all();
    return memory;
}

static void test(struct device_pe *pe);

int main()
{
    shmem_init();
    struct device_pe pe = {shmem_my_pe(), shmem_n_pes(), 0, 0, 0, 0};
    test(&pe);
    shmem_barrier_all();
    int failures = 0;
    cudaMemcpyFromSymbol(&failures, device_failures, sizeof failures);
    if (failures) printf("PE %d: %d checks failed\n", pe.me, failures);
    shmem_finalize();
    return failures > 0;
}

#endif

/* Run a kernel on each PE, and let the PEs meet when all have ended. */
#ifdef __CUDACC__
#define DEVICE_RUN(PE, KERNEL, GRID, BLOCK, ...)                         \
    do {                                                                 \
        KERNEL<<<GRID, BLOCK, 0, (PE)->stream>>>(__VA_ARGS__);           \
        if (cudaStreamSynchronize((PE)->stream) != cudaSuccess) abort(); \
        device_meet(PE);                                                 \
    } while (0)
#else
#define DEVICE_RUN(PE, KERNEL, GRID, BLOCK, ...)                                     \
    do {                                                                             \
        auto launcher = shmemx_cpu_kernel(                                           \
            #KERNEL, [](auto... a) { KERNEL(a...); }, GRID, BLOCK, 0, (PE)->stream); \
        launcher.how.state = (PE)->state;                                            \
        if (launcher(__VA_ARGS__) != 0) abort();                                     \
        cudaStreamSynchronize((PE)->stream);                                         \
        device_meet(PE);                                                             \
    } while (0)
#endif

#endif
