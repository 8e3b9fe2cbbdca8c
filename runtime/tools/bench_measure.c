/* SPDX-License-Identifier: Apache-2.0
 *
 * How a case becomes a row: as many turns of the loop as fill one sample, a few samples to warm up, then samples of ours and of the raw
 * loop in turn. All PEs take the same decisions, because PE 0 tells the number of turns.
 */
#include "runtime/tools/bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WARM_UP = 3, TURNS_MAX = 1 << 24 };

double bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

size_t bench_next_bytes(size_t bytes)
{
    return bytes < 4096 ? bytes * 8 : bytes * 4;
}

/* ---- agreement: plain puts and barriers, which every version has ---- */

static double  largest_value;
static double *given; /* [npes], in the heap: what each PE gave to PE 0 */

double bench_largest(double value)
{
    if (!given) given = shmem_malloc((size_t)bench.npes * sizeof *given);
    shmem_double_p(&given[bench.me], value, 0);
    shmem_barrier_all();
    if (bench.me == 0) {
        largest_value = given[0];
        for (int pe = 1; pe < bench.npes; pe++)
            if (given[pe] > largest_value) largest_value = given[pe];
        for (int pe = 1; pe < bench.npes; pe++) shmem_double_p(&largest_value, largest_value, pe);
    }
    shmem_barrier_all();
    return largest_value;
}

/* ---- samples ---- */

static bool takes_part(const struct bench_case *what)
{
    switch (what->by) {
    case BENCH_BY_ONE: return bench.me == 0;
    case BENCH_BY_PAIR: return bench.me < 2;
    default: return true;
    }
}

static void nap(double ns)
{
    struct timespec time = {.tv_sec = (time_t)(ns / 1e9), .tv_nsec = (long)ns % 1000000000};
    nanosleep(&time, NULL);
}

/* Nanoseconds of `turns` turns of the loop, the same on all PEs that must know it. */
static double sample(const struct bench_case *what, bench_loop *loop, size_t turns)
{
    if (what->by != BENCH_BY_ONE) shmem_barrier_all();
    if (loop == bench_raw_hand_over) {
        /* PEs 0 and 1 hand over: they begin when the others have left the barrier, and end before these wake. */
        nap((bench.me < 2 ? 1 : 4) * bench.sample_ns);
        if (bench.me > 1) return bench_largest(0);
    }
    double start = bench_now_ns();
    if (takes_part(what)) loop(what, turns);
    double spent = bench_now_ns() - start;
    if (what->by == BENCH_BY_ONE) return spent;
    return bench_largest(what->by == BENCH_BY_EACH || bench.me == 0 ? spent : 0);
}

/* Of so many turns, undisturbed: where one sample is long enough, the least of three, since a single one may have lost its core. */
static double steady_sample(const struct bench_case *what, bench_loop *loop, size_t turns)
{
    double least = sample(what, loop, turns);
    for (int again = 0; again < 2 && least >= bench.sample_ns; again++) {
        double spent = sample(what, loop, turns);
        if (spent < least) least = spent;
    }
    return least;
}

/* The first turn may cost far more than the next ones, such as the wake of a thread: then more turns hardly take longer. */
static bool grows_with_turns(const struct bench_case *what, bench_loop *loop, size_t turns, double spent)
{
    return turns > 8 || steady_sample(what, loop, 2 * turns) > 1.5 * spent;
}

/* More turns than it takes do no harm; one turn of a call of some ns would measure the clock, in every sample of the row. */
static size_t turns_that_fill(const struct bench_case *what, bench_loop *loop)
{
    size_t turns = 1;
    sample(what, loop, turns); /* does not count: pages that are new, the choice of a copy */
    for (;;) {
        double spent = steady_sample(what, loop, turns);
        if (turns >= TURNS_MAX) return turns;
        if (spent >= bench.sample_ns) {
            if (grows_with_turns(what, loop, turns, spent)) return turns;
            turns *= 4;
            continue;
        }
        double more = spent > 0 ? bench.sample_ns / spent * 1.1 : 8;
        turns       = more > 8 ? turns * 8 : (size_t)((double)turns * (more < 1.2 ? 1.2 : more)) + 1;
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double at(const double *sorted, int count, double share)
{
    return sorted[(int)((double)(count - 1) * share + 0.5)];
}

void bench_note(const struct bench_case *what, double *samples, double *raw_samples, int count)
{
    if (bench.me != 0 || bench.rows == BENCH_ROWS_MAX) return;
    struct bench_row *row = &bench.row[bench.rows++];
    qsort(samples, (size_t)count, sizeof *samples, by_value);
    if (raw_samples) qsort(raw_samples, (size_t)count, sizeof *raw_samples, by_value);
    *row = (struct bench_row){.what    = *what,
                              .p5      = at(samples, count, .05),
                              .p50     = at(samples, count, .5),
                              .p95     = at(samples, count, .95),
                              .p99     = at(samples, count, .99),
                              .raw_p50 = raw_samples ? at(raw_samples, count, .5) : 0};
    bench_progress(NULL, 0);
    bench_print_row(stdout, row);
    fflush(stdout);
    bench_csv_row(row);
}

bool bench_wanted(const struct bench_case *what)
{
    return (bench.groups & what->group) && (!bench.only || strstr(what->name, bench.only));
}

void bench_measure(const struct bench_case *what)
{
    static double ours[BENCH_SAMPLES_MAX], plain[BENCH_SAMPLES_MAX];
    if (!bench_wanted(what) || (what->by == BENCH_BY_PAIR && bench.npes < 2)) return;
    bool raw = what->raw && bench_raw_here();
    if (bench.me == 0) bench_progress(what->name, what->bytes);
    shmem_barrier_all();
    if (what->by != BENCH_BY_ONE || bench.me == 0) {
        size_t our_turns = turns_that_fill(what, what->ours), raw_turns = raw ? turns_that_fill(what, what->raw) : 0;
        for (int i = -WARM_UP; i < bench.samples; i++) {
            double a = sample(what, what->ours, our_turns) / (double)our_turns / what->calls;
            double b = raw ? sample(what, what->raw, raw_turns) / (double)raw_turns / what->calls : 0;
            if (i < 0) continue;
            ours[i]  = a;
            plain[i] = b;
        }
    }
    shmem_barrier_all();
    bench_note(what, ours, raw ? plain : NULL, bench.samples);
}
