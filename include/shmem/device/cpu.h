/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels on the CPU: the words of CUDA C that a SHMEM kernel needs, over threads of this process.
 * Active where SHMEM_DEVICE_ON_CPU is defined, as `oshcc --device-on-cpu` does; shmem_device.cuh includes it then.
 *
 * A block is a number of fibers on one thread of the system. They take turns: one gives way at __syncthreads, __syncwarp, in waits
 * of SHMEM, atomics, and in shmemx_cpu_yield. So lanes of a warp do not run in step, which no CUDA program may count on. A loop that
 * waits for another thread of its own block must call one of these. Blocks run at once, POSTERN_CPU_BLOCKS of them at a time.
 *
 * How to use it: docs/gpu.md.  Design: docs/decisions/0019-kernels-on-the-cpu.md.
 */
#ifndef SHMEMX_DEVICE_CPU_H
#define SHMEMX_DEVICE_CPU_H
#ifdef SHMEM_DEVICE_ON_CPU

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct shmemx_cpu_index {
    unsigned x, y, z;
};

/* Where a thread of a kernel is. */
struct shmemx_cpu_thread {
    struct shmemx_cpu_index thread_index, block_index, block_dim, grid_dim;
    unsigned                lane;
    void                   *shared; /* of the block, as large as the launch says */
    size_t                  shared_bytes;
    const void             *state; /* of the launch; NULL: that of the program   */
};

/*
 * How a kernel is launched. Set to 0 what is not used.
 *
 * name          for messages
 * grid, block   0 in a dimension counts as 1; a block has at most 1024 threads
 * shared_bytes  of dynamic shared memory, 128-byte aligned
 * stream        launches of one stream run one after another. NULL waits for all and all for it
 * blocks_max    blocks that run at a time; 0: POSTERN_CPU_BLOCKS, or else as many as 32768 threads are
 * state         NULL, or another PE's device state: tests run several PEs in one process
 */
typedef struct {
    const char             *name;
    struct shmemx_cpu_index grid, block;
    size_t                  shared_bytes;
    void                   *stream;
    unsigned                blocks_max;
    const void             *state;
} shmemx_cpu_launch_t;

/*
 * Start a kernel: each thread of the grid calls kernel(argument). Returns when its first blocks run, or wait for the stream's
 * earlier launch to end. done, if not NULL, is called with argument when the last has ended. 0, or a negative errno after a message.
 */
int shmemx_cpu_launch(const shmemx_cpu_launch_t *how, void (*kernel)(void *argument), void *argument, void (*done)(void *argument));

/* How many blocks of so many threads run at a time; 0 after a message where POSTERN_CPU_BLOCKS makes no sense. */
long shmemx_cpu_blocks_at_once(size_t threads_per_block);

/* Wait for the kernels of a stream; NULL: for all. */
void shmemx_cpu_synchronize(void *stream);

/* The calling thread of a kernel; NULL outside kernels. The same for as long as the caller lives. */
const struct shmemx_cpu_thread *shmemx_cpu_self(void) __attribute__((const));

static inline int shmemd_in_kernel(void)
{
    return shmemx_cpu_self() != 0;
}

/* To be called in each turn of a loop that waits. */
void shmemx_cpu_yield(void);

/* The same, every 64th time: for what may be in such a loop. */
void shmemx_cpu_breathe(void);

/* Print a message with the place of the calling thread, and abort. */
void shmemx_cpu_trap(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

enum shmemx_cpu_vote { SHMEMX_CPU_VOTE_NONE, SHMEMX_CPU_VOTE_OR, SHMEMX_CPU_VOTE_AND, SHMEMX_CPU_VOTE_COUNT };
int      shmemx_cpu_syncthreads(enum shmemx_cpu_vote vote, int predicate);
void     shmemx_cpu_syncwarp(unsigned mask);
uint64_t shmemx_cpu_shuffle(unsigned mask, uint64_t value, unsigned source_lane);
unsigned shmemx_cpu_ballot(unsigned mask, int predicate);
unsigned shmemx_cpu_activemask(void);

#ifdef __cplusplus
}
#endif

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#ifdef __cplusplus
#define __shared__ thread_local
#else
#define __shared__ static _Thread_local
#endif

#define threadIdx (shmemx_cpu_self()->thread_index)
#define blockIdx  (shmemx_cpu_self()->block_index)
#define blockDim  (shmemx_cpu_self()->block_dim)
#define gridDim   (shmemx_cpu_self()->grid_dim)
#define warpSize  32

/* `extern __shared__ type name[];` of CUDA. The wrapper oshcc translates that. */
#define SHMEMX_DYNAMIC_SHARED(type, name) type *const name = (type *)shmemx_cpu_self()->shared

#define __syncthreads()            ((void)shmemx_cpu_syncthreads(SHMEMX_CPU_VOTE_NONE, 0))
#define __syncthreads_or(holds)    shmemx_cpu_syncthreads(SHMEMX_CPU_VOTE_OR, holds)
#define __syncthreads_and(holds)   shmemx_cpu_syncthreads(SHMEMX_CPU_VOTE_AND, holds)
#define __syncthreads_count(holds) shmemx_cpu_syncthreads(SHMEMX_CPU_VOTE_COUNT, holds)
#define __activemask()             shmemx_cpu_activemask()
#define __threadfence()            __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_block()      __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_system()     __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __nanosleep(ns)            ((void)(ns), shmemx_cpu_yield())
#define __trap()                   shmemx_cpu_trap("trapped")
#define __ldg(address)             (*(address))

#ifdef __cplusplus
#include "cpu_words.h"
#endif

#endif
#endif
