/* SPDX-License-Identifier: Apache-2.0
 *
 * Lost wake-ups. Of each pair of PEs one sleeps; the other sees it answer and stores a random short time later, so that the store
 * often meets the moment of going to sleep. The library bounds every sleep, which makes of a lost wake-up a sleep of
 * that bound, counted as "unwoken". A few may be writers that the machine stopped between store and look; without the
 * membarrier in wait.c they are ten times as many.
 * PES: 2 4
 * ENV: POSTERN_SPIN=0us
 * NOCHAOS: posted routes sleep in short steps and need no wake-up
 */
#include "stress.h"

#include <shmemx.h>

enum { ROUNDS = 2000, PAUSE_NS_MAX = 5000, LINES = 40, WORDS_PER_LINE = 8 };

/* Lines that the sleeper owns when the writer stores to them: its stores, and the flag behind them, leave the CPU late. */
static long lines[LINES * WORDS_PER_LINE];
static long word, answer, value;

static void pause_for(double us)
{
    double until_s = stress_now_s() + us / 1e6;
    while (stress_now_s() < until_s) continue;
}

/* The writer: stores a while after the answer, which is when the sleeper is on its way to sleep. It never sleeps itself. */
static void write_rounds(struct stress_numbers *numbers, int sleeper)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (__atomic_load_n(&answer, __ATOMIC_ACQUIRE) != value) continue;
        pause_for((double)stress_pick(numbers, PAUSE_NS_MAX) / 1e3);
        shmem_long_iput(lines, lines, WORDS_PER_LINE, WORDS_PER_LINE, LINES, sleeper);
        shmem_long_p(&word, ++value, sleeper);
    }
    while (__atomic_load_n(&answer, __ATOMIC_ACQUIRE) != value) continue;
}

static void sleep_rounds(int writer)
{
    for (int i = 0; i < ROUNDS; i++) {
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, ++value);
        for (int line = 0; line < LINES; line++) lines[line * WORDS_PER_LINE] = value;
        shmem_long_p(&answer, value, writer);
    }
}

#ifndef SLEEP_PREPARE
#define SLEEP_PREPARE() /* what a variant of this test does before it starts */
#endif

int main(void)
{
    SLEEP_PREPARE();
    shmem_init();
    int                   me = shmem_my_pe(), other = me ^ 1;
    struct stress_numbers numbers = {stress_seed() + (uint64_t)me};
    double                start_s = stress_now_s();
    uint64_t              sleeps = 0, unwoken = 0, wakes = 0;
    long                  round = 0;
    do {
        if (me & 1) sleep_rounds(other);
        else write_rounds(&numbers, other);
    } while (stress_go_on(++round, start_s));
    shmemx_counter("sleeps", &sleeps);
    shmemx_counter("unwoken", &unwoken);
    shmemx_counter("wakes", &wakes);
    printf("PE %d: %ld rounds, %" PRIu64 " sleeps, %" PRIu64 " woken others, %" PRIu64 " lost\n", me, value, sleeps, wakes,
           unwoken);
    CHECK(unwoken <= 3 + (uint64_t)value / 1000);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
