/* SPDX-License-Identifier: Apache-2.0
 *
 * One-sided MPI, for the rows of postern-bench that it has: the same work by MPI_Put, MPI_Get and the atomics of MPI-3, in one passive epoch, on a
 * window that MPI allocates (which is how its implementations map it).
 *
 *   mpirun -n 2 mpi_rma --csv FILE [--samples N] [--sample-us N] [--sizes A:B]
 *
 * Writes the columns of postern-bench's CSV, without raw limits.
 */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 1001, WARM_UP = 3, WINDOW = 16, BURST = 1000 };

static MPI_Win window;
static char   *mine, *source, *other_target;
static int     me, samples = 101;
static double  sample_s = 1e-4;
static size_t  bytes, bytes_min = 8, bytes_max = 4 << 20;
static FILE   *csv;
static int64_t turn;

typedef void loop_fn(size_t times);

static void put(size_t times)
{
    for (size_t i = 0; i < times; i++) {
        MPI_Put(source, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, window);
        MPI_Win_flush(1, window);
    }
}

static void get(size_t times)
{
    for (size_t i = 0; i < times; i++) {
        MPI_Get(source, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, window);
        MPI_Win_flush(1, window);
    }
}

/* A p is complete for its caller when the value may be reused: no flush until the end. */
static void put_word(size_t times)
{
    for (size_t i = 0; i < times; i++) MPI_Put(source, 8, MPI_BYTE, 1, (MPI_Aint)(8 * (i & 63)), 8, MPI_BYTE, window);
    MPI_Win_flush(1, window);
}

static void burst(size_t times)
{
    for (size_t i = 0; i < times; i++) put_word(BURST);
}

static void put_window(size_t times)
{
    for (size_t i = 0; i < times; i++) {
        for (int k = 0; k < WINDOW; k++) MPI_Put(source, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, window);
        MPI_Win_flush(1, window);
    }
}

static void get_window(size_t times)
{
    for (size_t i = 0; i < times; i++) {
        for (int k = 0; k < WINDOW; k++) MPI_Get(source, (int)bytes, MPI_BYTE, 1, 0, (int)bytes, MPI_BYTE, window);
        MPI_Win_flush(1, window);
    }
}

static void fetch_add(size_t times)
{
    int64_t one = 1, was;
    for (size_t i = 0; i < times; i++) {
        MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 1, 0, MPI_SUM, window);
        MPI_Win_flush(1, window);
    }
}

static void compare_swap(size_t times)
{
    int64_t was = 0, next, seen;
    for (size_t i = 0; i < times; i++, was = seen) {
        next = was + 1;
        MPI_Compare_and_swap(&next, &was, &seen, MPI_INT64_T, 1, 0, window);
        MPI_Win_flush(1, window);
    }
}

/* Rank r writes the word of the other and waits for its own, at the end of the window. */
static void ping_pong(size_t times)
{
    volatile int64_t *word = (void *)(mine + bytes_max);
    for (size_t i = 0; i < times; i++) {
        turn++;
        for (int step = 0; step < 2; step++) {
            if (step != me) {
                while (*word != turn) MPI_Win_sync(window);
                continue;
            }
            MPI_Put(&turn, 8, MPI_BYTE, 1 - me, (MPI_Aint)bytes_max, 8, MPI_BYTE, window);
            MPI_Win_flush(1 - me, window);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/*
 * postern-bench takes samples of a plain copy in turn with those of a library, which takes part of the cache from both. So that a row finds the cache alike
 * here, the same copies go between its samples.
 */
static void copy_between(int back, size_t times)
{
    for (size_t i = 0; i < times; i++) {
        memcpy(back ? source : other_target, back ? other_target : source, bytes);
        __asm__ __volatile__("" : : "r"(source), "r"(other_target) : "memory");
    }
}

static double sample(loop_fn *loop, int both, size_t times)
{
    double spent = 0;
    if (both) MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (both || me == 0) loop(times);
    spent = MPI_Wtime() - start;
    if (both) MPI_Bcast(&spent, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    return spent;
}

static void row(const char *group, const char *name, size_t row_bytes, loop_fn *loop, int both, double calls)
{
    static double values[SAMPLES_MAX];
    size_t        times = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (both || me == 0) {
        sample(loop, both, times); /* does not count: pages of the window that are new to this rank */
        while (sample(loop, both, times) < sample_s && times < 1 << 24) times *= 2;
        for (int i = -WARM_UP; i < samples; i++) {
            if (row_bytes > 8) copy_between(loop == get || loop == get_window, times * (size_t)calls);
            double spent = sample(loop, both, times) / (double)times / calls * 1e9;
            if (i >= 0) values[i] = spent;
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (me != 0) return;
    qsort(values, (size_t)samples, sizeof *values, by_value);
    fprintf(csv, "%s,\"%s\",%s,%zu,2,%.3f,%.3f,%.3f,%.3f,,\n", group, name, row_bytes && both == 0 ? "heap" : "static", row_bytes,
            values[samples / 2], values[samples / 20], values[samples * 19 / 20], values[samples * 99 / 100]);
    fflush(csv);
}

static size_t next_bytes(size_t now)
{
    return now < 4096 ? now * 8 : now * 4;
}

static void rows(void)
{
    row("latency", "p", 8, put_word, 0, 1);
    for (bytes = bytes_min; bytes <= bytes_max; bytes = next_bytes(bytes)) {
        row("latency", "put + quiet", bytes, put, 0, 1);
        row("latency", "get", bytes, get, 0, 1);
    }
    bytes = 8;
    row("latency", "g", 8, get, 0, 1);
    row("latency", "p + wait_until, one way", 8, ping_pong, 1, 2);
    for (bytes = bytes_min; bytes <= bytes_max; bytes = next_bytes(bytes)) {
        row("bandwidth", "put_nbi", bytes, put_window, 0, WINDOW);
        row("bandwidth", "get_nbi", bytes, get_window, 0, WINDOW);
    }
    row("rate", "put_nbi, 1000 and quiet", 8, burst, 0, BURST);
    row("atomic", "fetch_add", 8, fetch_add, 0, 1);
    row("atomic", "compare_swap", 8, compare_swap, 0, 1);
}

static size_t parse_bytes(const char *text, char **end)
{
    size_t value = strtoul(text, end, 10);
    if (**end == 'K') value <<= 10, ++*end;
    else if (**end == 'M') value <<= 20, ++*end;
    return value;
}

static void parse_sizes(const char *text)
{
    char *end;
    bytes_min = bytes_max = parse_bytes(text, &end);
    if (*end == ':') bytes_max = parse_bytes(end + 1, &end);
}

/*
 * On whole pages, as postern-bench has them, and written: pages of zeros that nobody has written yet are one page of the kernel, which stays in the
 * first-level cache, and a put of many of them looks twice as quick as it is.
 */
static void get_buffers(void)
{
    size_t whole = (bytes_max + 4095) / 4096 * 4096;
    source       = aligned_alloc(4096, whole);
    other_target = aligned_alloc(4096, whole);
    if (!source || !other_target) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(source, 1, whole);
    memset(other_target, 1, whole);
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    int         ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i + 1 < argc; i++) {
        if (strcmp(argv[i], "--csv") == 0) path = argv[i + 1];
        if (strcmp(argv[i], "--samples") == 0) samples = atoi(argv[i + 1]);
        if (strcmp(argv[i], "--sample-us") == 0) sample_s = atoi(argv[i + 1]) * 1e-6;
        if (strcmp(argv[i], "--sizes") == 0) parse_sizes(argv[i + 1]);
    }
    if (ranks != 2 || !path || samples < 1 || samples > SAMPLES_MAX || bytes_min < 1 || bytes_max < bytes_min) {
        if (me == 0) fprintf(stderr, "usage: mpirun -n 2 mpi_rma --csv FILE [--samples N] [--sample-us N] [--sizes A:B]\n");
        MPI_Finalize();
        return 2;
    }
    csv = me == 0 ? fopen(path, "w") : NULL;
    if (me == 0 && !csv) MPI_Abort(MPI_COMM_WORLD, 1);
    if (csv) fprintf(csv, "group,operation,memory,bytes,pes,median_ns,p5_ns,p95_ns,p99_ns,raw_ns,raw\n");
    MPI_Win_allocate((MPI_Aint)bytes_max + 4096, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    memset(mine, 0, bytes_max + 4096);
    get_buffers();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    rows();
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    if (csv) fclose(csv);
    MPI_Finalize();
    return 0;
}
