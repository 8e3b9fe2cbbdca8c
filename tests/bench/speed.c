/* SPDX-License-Identifier: Apache-2.0
 *
 * The speed of one machine's routes beside plain loops, in one run: 2 PEs, TSV rows on PE 0.
 *
 *   oshrun -n 2 speed [ROUNDS]        default: 31 rounds
 *
 * A row is one operation of the library and the plain code that moves the same bytes between the same two mappings. Both are measured
 * in turn in every round, so that a noisy machine disturbs both; the row has the median of each and the median of the ratios
 * of one round. Bandwidth rows take the best of several plain copy loops as "plain".
 */
#include <shmem.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { ROUNDS_MAX = 301, BATCH = 1000, TURNS = 2000, HEAP_BYTES = 8 << 20 };

static int me, peer, rounds = 31;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int count)
{
    static double sorted[ROUNDS_MAX];
    memcpy(sorted, values, (size_t)count * sizeof *values);
    qsort(sorted, (size_t)count, sizeof *sorted, by_value);
    return sorted[count / 2];
}

/* ---- the measured loops: each gives ns per operation ---- */

struct memory {
    long          *target; /* symmetric                          */
    volatile long *mapped; /* the peer's target, mapped here     */
    char          *buffer; /* private, HEAP_BYTES                */
    size_t         bytes;  /* of one bulk operation              */
};

typedef double measure_fn(const struct memory *memory);

static double raw_store(const struct memory *memory)
{
    double start = now_ns();
    for (long i = 0; i < BATCH; i++) memory->mapped[i & 63] = i;
    return (now_ns() - start) / BATCH;
}

static double our_p(const struct memory *memory)
{
    double start = now_ns();
    for (long i = 0; i < BATCH; i++) shmem_long_p(memory->target + (i & 63), i, peer);
    return (now_ns() - start) / BATCH;
}

static double our_putmem8(const struct memory *memory)
{
    double start = now_ns();
    for (long i = 0; i < BATCH; i++) shmem_putmem(memory->target + (i & 63), memory->buffer + 8 * (i & 63), 8, peer);
    return (now_ns() - start) / BATCH;
}

static double raw_fetch_add(const struct memory *memory)
{
    double start = now_ns();
    for (long i = 0; i < BATCH; i++) __atomic_fetch_add(memory->mapped, 1, __ATOMIC_SEQ_CST);
    return (now_ns() - start) / BATCH;
}

static double our_fetch_add(const struct memory *memory)
{
    double start = now_ns();
    long   sum   = 0;
    for (long i = 0; i < BATCH; i++) sum += shmem_long_atomic_fetch_add(memory->target, 1, peer);
    if (sum == 42) puts("");
    return (now_ns() - start) / BATCH;
}

/* Plain copies: what a programmer would write by hand. */
static void copy_libc(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

static void copy_words(void *to, const void *from, size_t bytes)
{
    uint64_t       *d = to;
    const uint64_t *s = from;
    for (size_t i = 0; i < bytes / 8; i++) d[i] = s[i];
    __asm__ __volatile__("" : : "r"(d) : "memory");
}

#if defined(__x86_64__)
static void copy_rep(void *to, const void *from, size_t bytes)
{
    __asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

static void copy_stream(void *to, const void *from, size_t bytes)
{
    __m128i       *d = to;
    const __m128i *s = from;
    for (size_t i = 0; i < bytes / 16; i++) _mm_stream_si128(d + i, _mm_loadu_si128(s + i));
    _mm_sfence();
}
#else
#define copy_rep    copy_libc
#define copy_stream copy_libc
#endif

typedef void             copy_fn(void *to, const void *from, size_t bytes);
static copy_fn *const    plain_copies[]     = {copy_libc, copy_words, copy_rep, copy_stream};
static const char *const plain_copy_names[] = {"memcpy", "words", "rep movsb", "stream"};
enum { PLAIN_COPIES = sizeof plain_copies / sizeof plain_copies[0] };

static int repeats(size_t bytes)
{
    return bytes >= (1 << 20) ? 8 : 64;
}

/* The first copy is not timed: the loop before may have left the lines elsewhere. */
static double time_copy(copy_fn *copy, void *to, const void *from, size_t bytes)
{
    copy(to, from, bytes);
    double start = now_ns();
    for (int i = 0; i < repeats(bytes); i++) copy(to, from, bytes);
    return (now_ns() - start) / repeats(bytes);
}

static double our_put(const struct memory *memory)
{
    shmem_putmem(memory->target, memory->buffer, memory->bytes, peer);
    double start = now_ns();
    for (int i = 0; i < repeats(memory->bytes); i++) shmem_putmem(memory->target, memory->buffer, memory->bytes, peer);
    return (now_ns() - start) / repeats(memory->bytes);
}

static double our_get(const struct memory *memory)
{
    shmem_getmem(memory->buffer, memory->target, memory->bytes, peer);
    double start = now_ns();
    for (int i = 0; i < repeats(memory->bytes); i++) shmem_getmem(memory->buffer, memory->target, memory->bytes, peer);
    return (now_ns() - start) / repeats(memory->bytes);
}

/* ---- rows ---- */

static void print_row(const char *name, size_t bytes, const char *where, const double *ours, const double *plain, const char *note)
{
    static double ratios[ROUNDS_MAX];
    for (int i = 0; i < rounds; i++) ratios[i] = ours[i] / plain[i];
    double our_ns = median(ours, rounds), plain_ns = median(plain, rounds);
    printf("%s\t%zu\t%s\t%.2f\t%.2f\t%.3f\t%.2f\t%s\n", name, bytes, where, our_ns, plain_ns, median(ratios, rounds),
           bytes >= 4096 ? (double)bytes / our_ns : 0.0, note);
}

static void small_row(const char *name, size_t bytes, const char *where, measure_fn *ours, measure_fn *plain,
                      const struct memory *memory)
{
    static double our_ns[ROUNDS_MAX], plain_ns[ROUNDS_MAX];
    for (int i = -3; i < rounds; i++) {
        double a = ours(memory), b = plain(memory);
        if (i < 0) continue;
        our_ns[i]   = a;
        plain_ns[i] = b;
    }
    print_row(name, bytes, where, our_ns, plain_ns, "");
}

static void bulk_row(const char *name, size_t bytes, const char *where, bool get, struct memory memory)
{
    static double our_ns[ROUNDS_MAX], plain_ns[PLAIN_COPIES][ROUNDS_MAX];
    memory.bytes = bytes;
    void *remote = (void *)(uintptr_t)memory.mapped;
    for (int i = -3; i < rounds; i++) {
        double a = get ? our_get(&memory) : our_put(&memory);
        for (int k = 0; k < PLAIN_COPIES; k++) {
            double b = get ? time_copy(plain_copies[k], memory.buffer, remote, bytes)
                           : time_copy(plain_copies[k], remote, memory.buffer, bytes);
            if (i >= 0) plain_ns[k][i] = b;
        }
        if (i >= 0) our_ns[i] = a;
    }
    int best = 0;
    for (int k = 1; k < PLAIN_COPIES; k++)
        if (median(plain_ns[k], rounds) < median(plain_ns[best], rounds)) best = k;
    print_row(name, bytes, where, our_ns, plain_ns[best], plain_copy_names[best]);
}

/* ---- ping-pong: both PEs take part ---- */

static double raw_ping_pong(volatile uint64_t *mine, volatile uint64_t *theirs, uint64_t base)
{
    double start = now_ns();
    for (uint64_t i = 1; i <= TURNS; i++) {
        if (me == 0) {
            __atomic_store_n(theirs, base + i, __ATOMIC_RELEASE);
            while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) != base + i) continue;
        } else {
            while (__atomic_load_n(mine, __ATOMIC_ACQUIRE) != base + i) continue;
            __atomic_store_n(theirs, base + i, __ATOMIC_RELEASE);
        }
    }
    return (now_ns() - start) / (2 * TURNS);
}

static double signal_ping_pong(uint64_t *signal, long *data, uint64_t base)
{
    long   value = 7;
    double start = now_ns();
    for (uint64_t i = 1; i <= TURNS; i++) {
        if (me == 0) {
            shmem_long_put_signal(data, &value, 1, signal, base + i, SHMEM_SIGNAL_SET, peer);
            shmem_signal_wait_until(signal, SHMEM_CMP_EQ, base + i);
        } else {
            shmem_signal_wait_until(signal, SHMEM_CMP_EQ, base + i);
            shmem_long_put_signal(data, &value, 1, signal, base + i, SHMEM_SIGNAL_SET, peer);
        }
    }
    return (now_ns() - start) / (2 * TURNS);
}

static double set_ping_pong(uint64_t *signal, uint64_t base)
{
    double start = now_ns();
    for (uint64_t i = 1; i <= TURNS; i++) {
        if (me == 0) {
            shmem_signal_set(signal, base + i, peer);
            shmem_signal_wait_until(signal, SHMEM_CMP_EQ, base + i);
        } else {
            shmem_signal_wait_until(signal, SHMEM_CMP_EQ, base + i);
            shmem_signal_set(signal, base + i, peer);
        }
    }
    return (now_ns() - start) / (2 * TURNS);
}

static double barriers(void)
{
    double start = now_ns();
    for (int i = 0; i < TURNS; i++) shmem_barrier_all();
    return (now_ns() - start) / TURNS;
}

static void ping_pong_rows(const char *where, uint64_t *signal, long *data, uint64_t *raw)
{
    static double      with_data[ROUNDS_MAX], set_only[ROUNDS_MAX], plain[ROUNDS_MAX], barrier[ROUNDS_MAX];
    volatile uint64_t *theirs = shmem_ptr(raw, peer);
    uint64_t           base   = 0;
    for (int i = -3; i < rounds; i++) {
        shmem_barrier_all();
        double a = signal_ping_pong(signal, data, base);
        base += TURNS;
        double b = set_ping_pong(signal, base);
        base += TURNS;
        double c = raw_ping_pong(raw, theirs, base);
        base += TURNS;
        double d = barriers();
        if (i < 0) continue;
        with_data[i] = a;
        set_only[i]  = b;
        plain[i]     = c;
        barrier[i]   = d;
    }
    if (me != 0) return;
    print_row("put_signal ping-pong, one way", 8, where, with_data, plain, "");
    print_row("signal_set ping-pong, one way", 8, where, set_only, plain, "");
    print_row("barrier_all", 0, where, barrier, plain, "");
}

static void rows_for(const char *where, struct memory memory)
{
    memory.mapped = shmem_ptr(memory.target, peer);
    shmem_barrier_all();
    if (me == 0) {
        small_row("shmem_long_p", 8, where, our_p, raw_store, &memory);
        small_row("shmem_putmem", 8, where, our_putmem8, raw_store, &memory);
        small_row("shmem_long_atomic_fetch_add", 8, where, our_fetch_add, raw_fetch_add, &memory);
        for (size_t bytes = 64 << 10; bytes <= 4 << 20; bytes <<= 6) {
            bulk_row("shmem_putmem", bytes, where, false, memory);
            bulk_row("shmem_getmem", bytes, where, true, memory);
        }
    }
    shmem_barrier_all();
}

static struct {
    _Alignas(64) uint64_t signal;
    long data;
    _Alignas(64) uint64_t raw;
} words;
static long static_target[HEAP_BYTES / sizeof(long) / 2];

int main(int argc, char **argv)
{
    shmem_init();
    me   = shmem_my_pe();
    peer = 1 - me;
    if (argc > 1) rounds = atoi(argv[1]);
    if (shmem_n_pes() != 2 || rounds < 1 || rounds > ROUNDS_MAX) {
        if (me == 0) fprintf(stderr, "usage: oshrun -n 2 %s [ROUNDS, 1 to %d]\n", argv[0], ROUNDS_MAX);
        shmem_finalize();
        return 2;
    }
    struct memory memory = {.target = shmem_align(4096, HEAP_BYTES), .buffer = aligned_alloc(4096, HEAP_BYTES)};
    memset(memory.buffer, 1, HEAP_BYTES);
    memset(memory.target, 2, HEAP_BYTES);
    memset(static_target, 2, sizeof static_target);
    if (me == 0) printf("operation\tbytes\twhere\tours_ns\tplain_ns\tratio\tours_GBps\tbest_plain\n");
    rows_for("heap", memory);
    ping_pong_rows("heap", (uint64_t *)memory.target, memory.target + 1, (uint64_t *)memory.target + 16);
    memory.target = static_target;
    rows_for("static", memory);
    ping_pong_rows("static", &words.signal, &words.data, &words.raw);
    fflush(stdout);
    shmem_finalize();
    return 0;
}
