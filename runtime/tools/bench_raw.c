/* SPDX-License-Identifier: Apache-2.0
 *
 * What the machine itself takes: loops without any library, on memory that PEs 0 and 1 share. PE 0 makes it, the other finds it through
 * /proc, so that nothing is left behind whatever ends.
 */
#include "runtime/tools/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Words on lines of their own, then the bytes. */
enum { WORDS_BYTES = BENCH_PAGE };
struct words {
    _Alignas(BENCH_LINE) uint64_t to_first; /* written by PE 1, read by PE 0 */
    _Alignas(BENCH_LINE) uint64_t to_second;
    _Alignas(BENCH_LINE) uint64_t counted;
    _Alignas(BENCH_LINE) uint32_t baton; /* counts hand-overs of a core */
    int core;                            /* the one that PEs 0 and 1 share for that */
};

static struct words *words;
static uint64_t     *to_me, *to_peer;
static char         *area; /* two of area_bytes each */
static size_t        area_bytes, mapped_bytes;
static long          place[2]; /* symmetric: process and descriptor of PE 0 */

static int make_memory(void)
{
    int fd = memfd_create("postern-bench", MFD_CLOEXEC);
    if (fd < 0) return -errno;
    if (ftruncate(fd, (off_t)mapped_bytes) != 0) return -errno;
    for (int pe = 0; pe < bench.npes; pe++) {
        shmem_long_p(&place[0], getpid(), pe);
        shmem_long_p(&place[1], fd, pe);
    }
    return fd;
}

static int find_memory(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%ld", place[0], place[1]);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return -errno;
    char name[64];
    int  length = (int)readlink(path, name, sizeof name - 1);
    if (length > 0 && strncmp(name, "/memfd:postern-bench", 20) == 0) return fd;
    close(fd);
    return -ENOENT; /* another machine, whose process of that number is somebody else's */
}

void bench_raw_open(size_t bytes)
{
    area_bytes   = (bytes + BENCH_PAGE - 1) / BENCH_PAGE * BENCH_PAGE;
    mapped_bytes = WORDS_BYTES + 2 * area_bytes;
    if (bench.npes < 2) return;
    int fd = bench.me == 0 ? make_memory() : 0;
    shmem_barrier_all();
    if (bench.me != 0) fd = find_memory();
    char *at = fd < 0 ? MAP_FAILED : mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    bool  no = bench_largest(at == MAP_FAILED) > 0; /* the descriptor of PE 0 stays open until all have looked */
    if (fd >= 0) close(fd);
    if (no) {
        if (at != MAP_FAILED) munmap(at, mapped_bytes);
        if (bench.me == 0)
            fprintf(stderr,
                    "postern-bench: no raw limits" WHY
                    "the PEs cannot share memory by themselves; on several machines, or in several containers, they cannot" FIX
                    "oshrun -n 2 on one machine shows them\n");
        return;
    }
    words = (void *)at;
    area  = at + WORDS_BYTES;
    memset(area + (bench.me == 0 ? area_bytes : 0), 1, bench.me < 2 ? area_bytes : 0);
    if (bench.me == 0) words->core = sched_getcpu();
    to_me   = bench.me == 0 ? &words->to_first : &words->to_second;
    to_peer = bench.me == 0 ? &words->to_second : &words->to_first;
    shmem_barrier_all();
}

void bench_raw_close(void)
{
    if (words) munmap(words, mapped_bytes);
    words = NULL;
}

bool bench_raw_here(void)
{
    return words != NULL;
}

/* ---- one PE ---- */

void bench_raw_store(const struct bench_case *what, size_t times)
{
    (void)what;
    volatile uint64_t *at = (void *)area;
    for (size_t i = 0; i < times; i++) at[i & 63] = i;
}

void bench_raw_load(const struct bench_case *what, size_t times)
{
    (void)what;
    volatile uint64_t *at = (void *)area;
    for (size_t i = 0; i < times; i++) (void)at[i & 63];
}

void bench_raw_add(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < times; i++) __atomic_fetch_add(&words->counted, 1, __ATOMIC_SEQ_CST);
}

void bench_raw_swap(const struct bench_case *what, size_t times)
{
    (void)what;
    for (uint64_t i = 0, seen = __atomic_load_n(&words->counted, __ATOMIC_RELAXED); i < times; i++)
        __atomic_compare_exchange_n(&words->counted, &seen, seen + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void bench_raw_add_each(const struct bench_case *what, size_t times)
{
    if (bench.me < 2) bench_raw_add(what, times);
}

/* ---- copies: the best of several, found anew for each size ---- */

static void copy_libc(void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    __asm__ __volatile__("" : : "r"(to) : "memory");
}

#if defined(__x86_64__)
static void copy_string(void *to, const void *from, size_t bytes)
{
    __asm__ __volatile__("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

/* Blocks from the last to the first: what was written last is read first, as it is still in the cache. */
static void copy_backward(void *to, const void *from, size_t bytes)
{
    enum { BLOCK = 32 << 10 };
    for (size_t end = bytes, block; end > 0;) {
        block = end % BLOCK ? end % BLOCK : BLOCK;
        end -= block;
        copy_string((char *)to + end, (const char *)from + end, block);
    }
}

static void copy_stream(void *to, const void *from, size_t bytes)
{
    if (bytes % BENCH_LINE) {
        copy_libc(to, from, bytes);
        return;
    }
    __m128i       *d = to;
    const __m128i *s = from;
    for (size_t i = 0; i < bytes / 16; i++) _mm_stream_si128(d + i, _mm_loadu_si128(s + i));
    _mm_sfence();
}

__attribute__((target("avx512f"))) static void stream_lines(void *to, const void *from, size_t bytes)
{
    char       *d = to;
    const char *s = from;
    for (size_t i = 0; i < bytes; i += 64) _mm512_stream_si512((void *)(d + i), _mm512_loadu_si512(s + i));
    _mm_sfence();
}

static void copy_stream_lines(void *to, const void *from, size_t bytes)
{
    if (bytes % BENCH_LINE || !__builtin_cpu_supports("avx512f")) copy_stream(to, from, bytes);
    else stream_lines(to, from, bytes);
}

bench_copy *const bench_raw_copies[BENCH_RAW_COPIES] = {copy_libc, copy_string, copy_backward, copy_stream, copy_stream_lines};
#else
bench_copy *const bench_raw_copies[BENCH_RAW_COPIES] = {copy_libc, copy_libc, copy_libc, copy_libc, copy_libc};
#endif

enum { TRIALS = 9, TRIAL_BYTES = 1 << 20 };

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

/* One trial, under the conditions of a sample: another copy, to or from other memory, has gone before. */
static double try_copy(bench_copy *copy, void *to, const void *from, size_t bytes)
{
    bool  into_area = (char *)to >= area && (char *)to < area + 2 * area_bytes;
    char *mine      = into_area ? to : (char *)(uintptr_t)from,
         *other     = mine < area + area_bytes ? mine + area_bytes : mine - area_bytes;
    copy_libc(into_area ? other : to, into_area ? from : other, bytes);
    size_t turns = bytes < TRIAL_BYTES ? TRIAL_BYTES / bytes : 1;
    double start = bench_now_ns();
    for (size_t i = 0; i < turns; i++) copy(to, from, bytes);
    return (bench_now_ns() - start) / (double)turns;
}

/* All in turn, several times; the one with the least median. */
static bench_copy *find_best_copy(void *to, const void *from, size_t bytes)
{
    double spent[BENCH_RAW_COPIES][TRIALS];
    int    best = 0;
    for (int i = 0; i < TRIALS; i++)
        for (int k = 0; k < BENCH_RAW_COPIES; k++) spent[k][i] = try_copy(bench_raw_copies[k], to, from, bytes);
    for (int k = 0; k < BENCH_RAW_COPIES; k++)
        if (bench_median(spent[k], TRIALS) < bench_median(spent[best], TRIALS)) best = k;
    return bench_raw_copies[best];
}

static bench_copy *best_copy(void *to, const void *from, size_t bytes)
{
    static bench_copy *best;
    static size_t      best_bytes;
    static const void *best_to;
    if (bytes < 1024) return copy_libc;
    if (bytes == best_bytes && to == best_to) return best;
    best       = find_best_copy(to, from, bytes);
    best_bytes = bytes;
    best_to    = to;
    return best;
}

void bench_raw_copy(const struct bench_case *what, size_t times)
{
    if (what->bytes == 8) { /* a copy of one word is two instructions, not a call */
        volatile uint64_t *to = (void *)area, *from = (void *)what->source;
        for (size_t i = 0; i < times; i++) *to = *from;
        return;
    }
    bench_copy *copy = best_copy(area, what->source, what->bytes);
    for (size_t i = 0; i < times; i++) copy(area, what->source, what->bytes);
}

/* The quickest full fence: a locked instruction on a word that was not just written. It changes nothing. */
static inline void full_fence(void)
{
#if defined(__x86_64__)
    __asm__ __volatile__("lock orq $0, -8(%%rsp)" : : : "memory", "cc");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

void bench_raw_fence(const struct bench_case *what, size_t times)
{
    (void)what;
    for (size_t i = 0; i < times; i++) full_fence();
}

void bench_raw_copy_fence(const struct bench_case *what, size_t times)
{
    volatile uint64_t *to = (void *)area, *from = (void *)what->source;
    bench_copy        *copy = best_copy(area, what->source, what->bytes);
    for (size_t i = 0; i < times; i++) {
        if (what->bytes == 8) *to = *from;
        else copy(area, what->source, what->bytes);
        full_fence();
    }
}

void bench_raw_copy_back(const struct bench_case *what, size_t times)
{
    if (what->bytes == 8) {
        volatile uint64_t *from = (void *)area, *to = (void *)what->source;
        for (size_t i = 0; i < times; i++) *to = *from;
        return;
    }
    bench_copy *copy = best_copy(what->source, area, what->bytes);
    for (size_t i = 0; i < times; i++) copy(what->source, area, what->bytes);
}

/* ---- two PEs ---- */

/* The other may be a turn ahead already. */
static void wait_for(const uint64_t *word, uint64_t value)
{
    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) < value) continue;
}

/* The words count on from sample to sample; both PEs count alike. */
static uint64_t turn;

static void ping_pong(const struct bench_case *what, size_t times, bool with_bytes)
{
    size_t bytes = with_bytes ? what->bytes : 0;
    char  *there = area + (bench.me == 0 ? area_bytes : 0); /* each writes what the other owns */
    for (size_t i = 0; i < times; i++) {
        turn++;
        for (int step = 0; step < 2; step++) {
            if (step != bench.me) {
                wait_for(to_me, turn);
                continue;
            }
            if (bytes == 8) *(volatile uint64_t *)(void *)there = turn;
            else if (bytes > 0) best_copy(there, what->source, bytes)(there, what->source, bytes);
            __atomic_store_n(to_peer, turn, __ATOMIC_RELEASE);
        }
    }
}

void bench_raw_ping_pong(const struct bench_case *what, size_t times)
{
    ping_pong(what, times, false);
}

void bench_raw_copy_ping_pong(const struct bench_case *what, size_t times)
{
    ping_pong(what, times, true);
}

/* Both tell each other that they are there: the least that a barrier of two is. */
void bench_raw_meet(const struct bench_case *what, size_t times)
{
    (void)what;
    if (bench.me > 1) return;
    for (size_t i = 0; i < times; i++) {
        turn++;
        __atomic_store_n(to_peer, turn, __ATOMIC_RELEASE);
        wait_for(to_me, turn);
    }
}

/* ---- more PEs than cores ---- */

/*
 * PEs 0 and 1 on one core, that they give to each other. Where N PEs meet on C cores, each core must pass from PE to PE N / C times, whatever a
 * library does. Two processes, since that is what PEs are: to change the address space is part of it.
 */
static void wait_for_baton(uint32_t mine)
{
    uint32_t seen;
    while (((seen = __atomic_load_n(&words->baton, __ATOMIC_ACQUIRE)) & 1) != mine)
        syscall(SYS_futex, &words->baton, FUTEX_WAIT, seen, NULL, NULL, 0);
}

static void pass_baton(void)
{
    __atomic_fetch_add(&words->baton, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &words->baton, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void bench_raw_hand_over(const struct bench_case *what, size_t times)
{
    cpu_set_t before, one;
    (void)what;
    if (bench.me > 1) return;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET((size_t)words->core, &one);
    sched_setaffinity(0, sizeof one, &one);
    size_t hand_overs = times * (size_t)bench.npes / (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    for (size_t i = 0; i < hand_overs; i += 2) {
        wait_for_baton((uint32_t)bench.me); /* even: that of PE 0 */
        pass_baton();
    }
    sched_setaffinity(0, sizeof before, &before);
}
