/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases of all PEs: barriers and collectives, by teams where the library has them (1.5), else by active sets. Bytes are those of
 * the message (broadcast, reduce), that one PE gives (fcollect), for each pair (alltoall).
 */
#include "runtime/tools/bench.h"

#include <stdlib.h>
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

/* ---- the copies alone ---- */

/*
 * What an operation on bulk data cannot do without, by all PEs at the same time, without a meeting: for a broadcast one copy by each PE; for fcollect and
 * alltoall one to each PE; for a reduction its reads, sums and writes, each PE one part of the array. Through shmem_ptr, on the same sources; but to
 * other targets, since lines that the library's call wrote last by another PE would cost both their time.
 */
enum {
    COPIES_BYTES_MIN = 64 << 10,
    COPIES_HEAP_MAX  = 32 << 20,
    SUM_ELEMS        = 512,
    PIECE_BYTES      = 64 << 10,
    WAYS             = 2 * BENCH_RAW_COPIES,
    WAY_TRIALS       = 5
};

static char **targets, **sources; /* of each PE, in this address space */

static struct way {
    bench_copy *copy;
    bool        push; /* into the others' memory; else out of it */
} way;

static void set_way(int number)
{
    way.copy = bench_raw_copies[number / 2];
    way.push = number % 2 == 0;
}

static void copies_of_broadcast(const struct bench_case *what)
{
    way.copy(targets[bench.me], sources[0], what->bytes);
}

/* Pushed in pieces, each to all before the next, so that the source is read once. */
static void copies_of_fcollect(const struct bench_case *what)
{
    size_t n = what->bytes, npes = (size_t)bench.npes, me = (size_t)bench.me;
    size_t piece = way.push && n > PIECE_BYTES ? PIECE_BYTES : n;
    for (size_t end = n, start; end > 0; end = start) {
        start = end > piece ? end - piece : 0;
        for (size_t i = 1; i <= npes; i++) {
            size_t pe = (me + i) % npes;
            if (way.push) way.copy(targets[pe] + me * n + start, sources[me] + start, end - start);
            else way.copy(targets[me] + pe * n, sources[pe], n);
        }
    }
}

static void copies_of_alltoall(const struct bench_case *what)
{
    size_t n = what->bytes;
    for (int i = 1; i <= bench.npes; i++) {
        size_t pe = (size_t)((bench.me + i) % bench.npes), me = (size_t)bench.me;
        if (way.push) way.copy(targets[pe] + me * n, sources[me] + pe * n, n);
        else way.copy(targets[me] + pe * n, sources[pe] + me * n, n);
    }
}

typedef double pair __attribute__((vector_size(16)));

static void add_arrays(pair *into, const pair *first, const pair *second, size_t pairs)
{
    for (size_t i = 0; i < pairs; i += 4)
        for (size_t k = i; k < i + 4; k++) into[k] = first[k] + second[k];
}

static void copies_of_reduce(const struct bench_case *what)
{
    enum { BYTES = SUM_ELEMS * sizeof(double), PAIRS = BYTES / sizeof(pair) };
    size_t pieces = what->bytes / BYTES, npes = (size_t)bench.npes, me = (size_t)bench.me;
    for (size_t at = pieces * me / npes * BYTES; at < pieces * (me + 1) / npes * BYTES; at += BYTES) {
        pair *sum = (void *)(targets[me] + at);
        add_arrays(sum, (void *)(sources[0] + at), (void *)(sources[1] + at), PAIRS);
        for (size_t pe = 2; pe < npes; pe++) add_arrays(sum, sum, (void *)(sources[pe] + at), PAIRS);
        for (size_t i = 1; i < npes; i++) way.copy(targets[(me + i) % npes] + at, sum, BYTES);
    }
}

/* On all PEs alike: all ways in turn, several times, and the one whose median is the least. */
static int find_best_way(const struct bench_case *what, void (*copies)(const struct bench_case *))
{
    double spent[WAYS][WAY_TRIALS];
    int    best = 0;
    for (int i = 0; i < WAY_TRIALS; i++)
        for (int k = 0; k < WAYS; k++) {
            set_way(k);
            shmem_barrier_all();
            double start = bench_now_ns();
            for (int turn = 0; turn < 2; turn++) copies(what);
            spent[k][i] = bench_largest(bench_now_ns() - start);
        }
    for (int k = 0; k < WAYS; k++)
        if (bench_median(spent[k], WAY_TRIALS) < bench_median(spent[best], WAY_TRIALS)) best = k;
    return best;
}

static void run_copies(const struct bench_case *what, size_t times, void (*copies)(const struct bench_case *))
{
    static const char *chosen_name;
    static size_t      chosen_bytes;
    if (chosen_name != what->name || chosen_bytes != what->bytes) set_way(find_best_way(what, copies));
    chosen_name  = what->name;
    chosen_bytes = what->bytes;
    for (size_t i = 0; i < times; i++) copies(what);
}

static void raw_broadcast(const struct bench_case *what, size_t times)
{
    run_copies(what, times, copies_of_broadcast);
}

static void raw_fcollect(const struct bench_case *what, size_t times)
{
    run_copies(what, times, copies_of_fcollect);
}

static void raw_alltoall(const struct bench_case *what, size_t times)
{
    run_copies(what, times, copies_of_alltoall);
}

static void raw_reduce(const struct bench_case *what, size_t times)
{
    run_copies(what, times, copies_of_reduce);
}

static char *copies_heap; /* of bench.heap_bytes, or NULL */

static bool map_all(void)
{
    size_t npes = (size_t)bench.npes;
    targets     = calloc(2 * npes, sizeof *targets);
    if (!targets || !copies_heap || npes < 2) return false;
    sources = targets + npes;
    for (size_t pe = 0; pe < npes; pe++) {
        targets[pe] = shmem_ptr(copies_heap, (int)pe);
        sources[pe] = shmem_ptr(bench.source, (int)pe);
        if (!targets[pe] || !sources[pe]) return false;
    }
    memset(copies_heap, 0, bench.heap_bytes);
    return true;
}

static void close_copies(void)
{
    free(targets);
    targets = NULL;
    if (copies_heap) shmem_free(copies_heap);
    copies_heap = NULL;
}

/* Where a PE does not map the memory of all, or has no core of its own, which makes "at the same time" mean nothing, there is no such limit. */
static void open_copies(void)
{
    bool cores = bench.npes <= (int)sysconf(_SC_NPROCESSORS_ONLN);
    if (cores && bench.heap_bytes <= COPIES_HEAP_MAX && bench.bytes_max >= COPIES_BYTES_MIN)
        copies_heap = shmem_align(BENCH_PAGE, bench.heap_bytes);
    bool no = !map_all();
    if (bench_largest(no) > 0) close_copies();
}

/* ---- all ---- */

static void run_sweep(const char *name, bench_loop *ours, bench_loop *raw, size_t bytes_most)
{
    struct bench_case one = {.group    = BENCH_COLLECTIVE,
                             .name     = name,
                             .memory   = "heap",
                             .target   = bench.heap,
                             .source   = bench.source,
                             .by       = BENCH_BY_EACH,
                             .calls    = 1,
                             .ours     = ours,
                             .raw_name = "the copies alone"};
    for (one.bytes = bench.bytes_min; one.bytes <= bytes_most; one.bytes = bench_next_bytes(one.bytes)) {
        one.raw = one.bytes >= COPIES_BYTES_MIN && targets ? raw : NULL;
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
    open_copies();
    run_sweep("broadcast + sync_all", our_broadcast, raw_broadcast, bench.bytes_max);
    run_sweep("reduce (sum of double)", our_reduce, raw_reduce, bench.bytes_max);
    run_sweep("collect", our_collect, raw_fcollect, at_most(bench.heap_bytes));
    run_sweep("fcollect", our_fcollect, raw_fcollect, at_most(bench.heap_bytes));
    run_sweep("alltoall", our_alltoall, raw_alltoall, at_most(bench.source_bytes));
    close_copies();
#if BENCH_API < 105
    shmem_free(work);
#endif
}
