/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases of all PEs: barriers and collectives, by teams where the library has them (1.5), else by active sets. Bytes are those of
 * the message (broadcast, reduce), that one PE gives (fcollect), for each pair (alltoall).
 */
#include "runtime/tools/bench.h"

#include <string.h>
#include <unistd.h>

#if BENCH_API < 105
/* Two, in turn: when a PE begins a call, all have ended the one before the last. */
enum { SYNC_WORDS = SHMEM_ALLTOALL_SYNC_SIZE + SHMEM_BCAST_SYNC_SIZE + SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE };
static long    sync_words[2][SYNC_WORDS];
static int     sync_turn;
static double *work; /* symmetric */

static long *next_sync(void)
{
    return sync_words[sync_turn ^= 1];
}
#endif

static void our_barrier(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < times; i++) shmem_barrier_all();
}

static void our_sync(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < times; i++) shmem_sync_all();
}

static void our_broadcast(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
#if BENCH_API >= 105
        shmem_broadcastmem(SHMEM_TEAM_WORLD, what->target, what->source, what->bytes, 0);
#else
        shmem_broadcast64(what->target, what->source, what->bytes / 8, 0, 0, 0, bench.npes, next_sync());
#endif
        shmem_sync_all();
    }
}

static void our_reduce(const struct bench_case *what, size_t times)
{
    double *dest = (void *)what->target, *source = (void *)what->source;
    for (size_t i = 0; i < times; i++) {
#if BENCH_API >= 105
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, source, what->bytes / 8);
#else
        shmem_double_sum_to_all(dest, source, (int)(what->bytes / 8), 0, 0, bench.npes, work, next_sync());
#endif
    }
}

static void our_collect(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
#if BENCH_API >= 105
        shmem_collectmem(SHMEM_TEAM_WORLD, what->target, what->source, what->bytes);
#else
        shmem_collect64(what->target, what->source, what->bytes / 8, 0, 0, bench.npes, next_sync());
#endif
    }
}

static void our_fcollect(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
#if BENCH_API >= 105
        shmem_fcollectmem(SHMEM_TEAM_WORLD, what->target, what->source, what->bytes);
#else
        shmem_fcollect64(what->target, what->source, what->bytes / 8, 0, 0, bench.npes, next_sync());
#endif
    }
}

static void our_alltoall(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
#if BENCH_API >= 105
        shmem_alltoallmem(SHMEM_TEAM_WORLD, what->target, what->source, what->bytes);
#else
        shmem_alltoall64(what->target, what->source, what->bytes / 8, 0, 0, bench.npes, next_sync());
#endif
    }
}

static void run_sweep(const char *name, bench_loop *ours, size_t bytes_most)
{
    struct bench_case one = {.group  = BENCH_COLLECTIVE,
                             .name   = name,
                             .memory = "heap",
                             .target = bench.heap,
                             .source = bench.source,
                             .by     = BENCH_BY_EACH,
                             .calls  = 1,
                             .ours   = ours};
    for (one.bytes = bench.bytes_min; one.bytes <= bytes_most; one.bytes = bench_next_bytes(one.bytes)) {
        if (one.bytes % 8 == 0) bench_measure(&one);
    }
}

/* Largest message where each PE needs room for one of every PE. */
static size_t at_most(size_t room)
{
    size_t bytes = room / (size_t)bench.npes;
    return bytes < bench.bytes_max ? bytes : bench.bytes_max;
}

void bench_run_collective(void)
{
    if (!(bench.groups & BENCH_COLLECTIVE)) return;
#if BENCH_API < 105
    work = shmem_malloc(bench.bytes_max + SHMEM_REDUCE_MIN_WRKDATA_SIZE * sizeof *work);
    for (int i = 0; i < SYNC_WORDS; i++) sync_words[0][i] = sync_words[1][i] = SHMEM_SYNC_VALUE;
#endif
    memset(bench.source, 0, bench.source_bytes); /* sums of zeros: quick, and nothing overflows */
    shmem_barrier_all();
    struct bench_case one = {.group    = BENCH_COLLECTIVE,
                             .memory   = "",
                             .by       = BENCH_BY_EACH,
                             .calls    = 1,
                             .raw      = bench.npes == 2 ? bench_raw_meet : NULL,
                             .raw_name = "two flags"};
    if (bench.npes > (int)sysconf(_SC_NPROCESSORS_ONLN)) one.raw = bench_raw_hand_over, one.raw_name = "hand-overs of a core";
    one.name = "barrier_all", one.ours = our_barrier;
    bench_measure(&one);
    one.name = "sync_all", one.ours = our_sync;
    bench_measure(&one);
    run_sweep("broadcast + sync_all", our_broadcast, bench.bytes_max);
    run_sweep("reduce (sum of double)", our_reduce, bench.bytes_max);
    run_sweep("collect", our_collect, at_most(bench.heap_bytes));
    run_sweep("fcollect", our_fcollect, at_most(bench.heap_bytes));
    run_sweep("alltoall", our_alltoall, at_most(bench.source_bytes));
#if BENCH_API < 105
    shmem_free(work);
#endif
}
