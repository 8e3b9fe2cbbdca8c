/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads of each PE at once, from a seed: puts, nonblocking puts with quiet, gets and atomics on GPU memory of the other PEs, on contexts of
 * their own. Each thread has bytes of its own at each PE, which it reads back at once; all count in one word, and none of the counts is lost.
 * PES: 1 2 3
 * LINK: pthread
 * ENV: POSTERN_CUDA_HEAP=4M
 * VARIANTS: staged chaos rdma
 */
#include "gpu.h"

#include <pthread.h>

enum { THREADS = 4, STEPS = 40, MOST = 9000 };

static int            me, n;
static unsigned char *field;  /* at each PE: MOST bytes of each thread of each PE  */
static unsigned char *source; /* mine: MOST bytes of each thread, in GPU memory too */
static uint64_t      *counts;

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void step(int thread, shmem_ctx_t ctx, unsigned *seed, unsigned char *mine, unsigned char *seen)
{
    int            pe    = (int)(draw(seed) % (unsigned)n);
    size_t         bytes = 1 + draw(seed) % (draw(seed) % 2 ? 64 : MOST), at = draw(seed) % (MOST - bytes + 1);
    unsigned char *there = field + (size_t)(me * THREADS + thread) * MOST + at, *near = source + (size_t)thread * MOST;
    for (size_t i = 0; i < bytes; i++) mine[i] = (unsigned char)draw(seed);
    switch (draw(seed) % 3) {
    case 0: shmem_ctx_putmem(ctx, there, mine, bytes, pe); break;
    case 1: /* from GPU memory, which a put of my own fills */
        shmem_ctx_putmem(ctx, near, mine, bytes, me);
        shmem_ctx_quiet(ctx);
        shmem_ctx_putmem_nbi(ctx, there, near, bytes, pe);
        break;
    default: shmem_ctx_putmem_nbi(ctx, there, mine, bytes, pe);
    }
    shmem_ctx_quiet(ctx);
    shmem_ctx_getmem(ctx, seen, there, bytes, pe);
    CHECK(memcmp(mine, seen, bytes) == 0);
    shmem_ctx_uint64_atomic_inc(ctx, counts, pe);
}

static void *work(void *argument)
{
    int            thread = *(int *)argument;
    unsigned       seed   = 77u + (unsigned)(me * THREADS + thread);
    unsigned char *mine = malloc(MOST), *seen = malloc(MOST);
    shmem_ctx_t    ctx;
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    for (int i = 0; i < STEPS; i++) step(thread, ctx, &seed, mine, seen);
    shmem_ctx_destroy(ctx);
    free(mine);
    free(seen);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    int       numbers[THREADS], level;
    uint64_t  all = 0;
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) != 0 || level != SHMEM_THREAD_MULTIPLE) return 1;
    me     = shmem_my_pe();
    n      = shmem_n_pes();
    field  = shmem_malloc_with_hints((size_t)n * THREADS * MOST, SHMEMX_MEM_CUDA);
    source = shmem_malloc_with_hints((size_t)THREADS * MOST, SHMEMX_MEM_CUDA);
    counts = shmem_malloc_with_hints(sizeof *counts, SHMEMX_MEM_CUDA);
    gpu_clear(counts, sizeof *counts);
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(pthread_create(&threads[i], NULL, work, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) all += shmem_uint64_g(counts, pe);
    CHECK_EQUAL(all, (uint64_t)n * THREADS * STEPS);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
