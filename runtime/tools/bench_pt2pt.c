/* SPDX-License-Identifier: Apache-2.0
 *
 * The cases of PE 0 and a peer: latency, bandwidth, rate, atomics, signals. Sources are symmetric too, so that no library pays for
 * registering them; what is compared is the call.
 */
#include "runtime/tools/bench.h"

#include <string.h>

enum { WINDOW = 16, BURST = 1000, WORDS = 64 };

/* Static objects are symmetric as well; a library may reach them by another way than the heap. */
static long     static_words[WORDS];
static uint64_t signals[2 * BENCH_LINE / sizeof(uint64_t)]; /* the second: on a line of its own */
static long     flag;

static long seen; /* so that the compiler keeps what is read */

static long *word(const struct bench_case *what, size_t i)
{
    return (long *)(void *)what->target + (i & (WORDS - 1));
}

/* ---- latency ---- */

static void our_p(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) shmem_long_p(word(what, i), (long)i, bench.peer);
    shmem_quiet();
}

static void our_put(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        shmem_putmem(what->target, what->source, what->bytes, bench.peer);
        shmem_quiet();
    }
}

static void our_get(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) shmem_getmem(what->source, what->target, what->bytes, bench.peer);
}

static void our_g(const struct bench_case *what, size_t times)
{
    long sum = 0;
    for (size_t i = 0; i < times; i++) sum += shmem_long_g(word(what, i), bench.peer);
    seen = sum;
}

static void our_quiet(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < times; i++) shmem_quiet();
}

static void our_fence(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < times; i++) shmem_fence();
}

/* Both PEs count the turns alike, over all samples. */
static long turn;

static void our_p_and_wait(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < times; i++) {
        turn++;
        if (bench.me == 0) shmem_long_p(&flag, turn, bench.peer);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, turn);
        if (bench.me == 1) shmem_long_p(&flag, turn, bench.peer);
    }
}

static void run_latency(const char *memory, char *target)
{
    struct bench_case one = {.group    = BENCH_LATENCY,
                             .memory   = memory,
                             .target   = target,
                             .source   = bench.source,
                             .bytes    = 8,
                             .by       = BENCH_BY_ONE,
                             .calls    = 1,
                             .name     = "p",
                             .ours     = our_p,
                             .raw      = bench_raw_store,
                             .raw_name = "store"};
    bench_measure(&one);
    one.name = "g", one.ours = our_g, one.raw = bench_raw_load, one.raw_name = "load";
    bench_measure(&one);
    size_t most = target == bench.heap ? bench.bytes_max : 8;
    for (size_t bytes = bench.bytes_min; bytes <= most; bytes = bench_next_bytes(bytes)) {
        one.bytes = bytes;
        one.name = "put + quiet", one.ours = our_put, one.raw = bench_raw_copy_fence, one.raw_name = "best copy, full fence";
        bench_measure(&one);
        one.name = "get", one.ours = our_get, one.raw = bench_raw_copy_back, one.raw_name = "best copy";
        bench_measure(&one);
    }
    if (target != bench.heap) return;
    one.bytes = 0, one.memory = "";
    one.name = "quiet, nothing pending", one.ours = our_quiet, one.raw = bench_raw_fence, one.raw_name = "full fence";
    bench_measure(&one);
    one.name = "fence, nothing pending", one.ours = our_fence, one.raw = NULL, one.raw_name = "";
    bench_measure(&one);
    one = (struct bench_case){.group    = BENCH_LATENCY,
                              .memory   = "static",
                              .bytes    = 8,
                              .by       = BENCH_BY_PAIR,
                              .calls    = 2,
                              .name     = "p + wait_until, one way",
                              .ours     = our_p_and_wait,
                              .raw      = bench_raw_ping_pong,
                              .raw_name = "two flags"};
    bench_measure(&one);
}

/* ---- bandwidth and rate ---- */

static void our_put_window(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        for (int k = 0; k < WINDOW; k++) shmem_putmem_nbi(what->target, what->source, what->bytes, bench.peer);
        shmem_quiet();
    }
}

static void our_get_window(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        for (int k = 0; k < WINDOW; k++) shmem_getmem_nbi(what->source, what->target, what->bytes, bench.peer);
        shmem_quiet();
    }
}

static void raw_put_window(const struct bench_case *what, size_t times)
{
    bench_raw_copy(what, times * WINDOW);
}

static void raw_get_window(const struct bench_case *what, size_t times)
{
    bench_raw_copy_back(what, times * WINDOW);
}

static void our_burst(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        for (size_t k = 0; k < BURST; k++) shmem_putmem_nbi(word(what, k), what->source, 8, bench.peer);
        shmem_quiet();
    }
}

static void raw_burst(const struct bench_case *what, size_t times)
{
    bench_raw_store(what, times * BURST);
}

static void run_bandwidth(void)
{
    struct bench_case one = {.memory   = "heap",
                             .target   = bench.heap,
                             .source   = bench.source,
                             .by       = BENCH_BY_ONE,
                             .calls    = WINDOW,
                             .raw_name = "best copy"};
    one.group             = BENCH_BANDWIDTH;
    for (one.bytes = bench.bytes_min; one.bytes <= bench.bytes_max; one.bytes = bench_next_bytes(one.bytes)) {
        one.name = "put_nbi", one.ours = our_put_window, one.raw = raw_put_window;
        bench_measure(&one);
        one.name = "get_nbi", one.ours = our_get_window, one.raw = raw_get_window;
        bench_measure(&one);
    }
    one.group = BENCH_RATE, one.bytes = 8, one.calls = BURST;
    one.name = "put_nbi, 1000 and quiet", one.ours = our_burst, one.raw = raw_burst, one.raw_name = "store";
    bench_measure(&one);
}

/* ---- atomics ---- */

static void our_fetch_add(const struct bench_case *what, size_t times)
{
    long sum = 0;
    for (size_t i = 0; i < times; i++) sum += shmem_long_atomic_fetch_add(word(what, 0), 1, bench.peer);
    seen = sum;
}

static void our_add(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) shmem_long_atomic_add(word(what, 0), 1, bench.peer);
    shmem_quiet();
}

static void our_swap(const struct bench_case *what, size_t times)
{
    long was = shmem_long_atomic_fetch(word(what, 0), bench.peer);
    for (size_t i = 0; i < times; i++) was = shmem_long_atomic_compare_swap(word(what, 0), was, was + 1, bench.peer) + 1;
}

static void our_fetch(const struct bench_case *what, size_t times)
{
    long sum = 0;
    for (size_t i = 0; i < times; i++) sum += shmem_long_atomic_fetch(word(what, 0), bench.peer);
    seen = sum;
}

/* All PEs on one word, that of PE 0. */
static void our_contended_add(const struct bench_case *what, size_t times)
{
    long sum = 0;
    for (size_t i = 0; i < times; i++) sum += shmem_long_atomic_fetch_add(word(what, 0), 1, 0);
    seen = sum;
}

static void run_atomics(const char *memory, char *target)
{
    struct bench_case one = {.group    = BENCH_ATOMIC,
                             .memory   = memory,
                             .target   = target,
                             .bytes    = 8,
                             .by       = BENCH_BY_ONE,
                             .calls    = 1,
                             .raw_name = "lock add"};
    one.name = "fetch_add", one.ours = our_fetch_add, one.raw = bench_raw_add;
    bench_measure(&one);
    one.name = "add", one.ours = our_add;
    bench_measure(&one);
    one.name = "compare_swap", one.ours = our_swap, one.raw = bench_raw_swap, one.raw_name = "lock cmpxchg";
    bench_measure(&one);
    one.name = "fetch", one.ours = our_fetch, one.raw = bench_raw_load, one.raw_name = "load";
    bench_measure(&one);
    if (target != bench.heap || bench.npes < 2) return;
    one.name = "fetch_add by all PEs on one word", one.ours = our_contended_add, one.by = BENCH_BY_EACH, one.calls = bench.npes;
    one.raw = bench.npes == 2 ? bench_raw_add_each : NULL, one.raw_name = "lock add by both";
    bench_measure(&one);
}

/* ---- signals ---- */

#if BENCH_API >= 105
static uint64_t signalled;

static void our_put_signal(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        signalled++;
        if (bench.me == 0)
            shmem_putmem_signal(what->target, what->source, what->bytes, signals, signalled, SHMEM_SIGNAL_SET, bench.peer);
        shmem_signal_wait_until(signals, SHMEM_CMP_EQ, signalled);
        if (bench.me == 1)
            shmem_putmem_signal(what->target, what->source, what->bytes, signals, signalled, SHMEM_SIGNAL_SET, bench.peer);
    }
}

static void run_signals(void)
{
    struct bench_case one = {.group    = BENCH_SIGNAL,
                             .name     = "put_signal, one way",
                             .memory   = "heap",
                             .target   = bench.heap,
                             .source   = bench.source,
                             .by       = BENCH_BY_PAIR,
                             .calls    = 2,
                             .ours     = our_put_signal,
                             .raw      = bench_raw_copy_ping_pong,
                             .raw_name = "best copy, flag"};
    for (one.bytes = bench.bytes_min; one.bytes <= bench.bytes_max; one.bytes = bench_next_bytes(one.bytes)) bench_measure(&one);
}
#else
/* What a program writes where there is no put_signal. */
static void our_put_fence_p(const struct bench_case *what, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        turn++;
        if (bench.me == 0) {
            shmem_putmem(what->target, what->source, what->bytes, bench.peer);
            shmem_fence();
            shmem_long_p(&flag, turn, bench.peer);
        }
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, turn);
        if (bench.me == 1) {
            shmem_putmem(what->target, what->source, what->bytes, bench.peer);
            shmem_fence();
            shmem_long_p(&flag, turn, bench.peer);
        }
    }
}

static void run_signals(void)
{
    struct bench_case one = {.group    = BENCH_SIGNAL,
                             .name     = "put_signal, one way", /* the row's name is that of the need */
                             .memory   = "heap",
                             .target   = bench.heap,
                             .source   = bench.source,
                             .by       = BENCH_BY_PAIR,
                             .calls    = 2,
                             .ours     = our_put_fence_p,
                             .raw      = bench_raw_copy_ping_pong,
                             .raw_name = "best copy, flag"};
    (void)signals;
    for (one.bytes = bench.bytes_min; one.bytes <= bench.bytes_max; one.bytes = bench_next_bytes(one.bytes)) bench_measure(&one);
}
#endif

void bench_run_pt2pt(void)
{
    memset(bench.source, 1, bench.source_bytes);
    memset(bench.heap, 2, bench.heap_bytes);
    shmem_barrier_all();
    run_latency("heap", bench.heap);
    run_latency("static", (char *)static_words);
    run_bandwidth();
    run_atomics("heap", bench.heap);
    run_atomics("static", (char *)static_words);
    run_signals();
}
