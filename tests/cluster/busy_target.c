/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that computes and calls nothing is reached all the same: puts, gets and atomics of the others are complete while it computes. It
 * reads its own memory with plain loads only, and goes on until each of the others has made ROUNDS rounds and told so by a put; so if anything needed
 * the target's help, the job would hang. Prints how long a round took.
 *
 * Spec: OpenSHMEM 1.6 §3.2 Progress of OpenSHMEM Operations
 */
#include "../api/api.h"

#include <time.h>

enum { ROUNDS = 200, PES_MAX = 64, WORDS = 4096 };

static long done[PES_MAX]; /* [pe]: that PE has made its rounds */
static long words[PES_MAX], counter, block[WORDS];

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Numbers that nobody needs, and now and then a look at own memory. */
static void compute_until_all_are_done(int n)
{
    volatile double sum = 1;
    for (int pe = 1; pe < n;) {
        for (int i = 0; i < 10000; i++) sum = sum * 1.0000001 + 1e-9;
        if (__atomic_load_n(&done[pe], __ATOMIC_RELAXED) == ROUNDS) pe++;
    }
}

static void reach(int target)
{
    static double times[ROUNDS];
    static long   source[WORDS];
    int           me = shmem_my_pe();
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now_ms();
        long   value = me * 1000L + round;
        shmem_long_put(&words[me], &value, 1, target);
        shmem_quiet();
        CHECK_EQUAL(shmem_long_g(&words[me], target), value);
        shmem_long_atomic_fetch_inc(&counter, target);
        if (round % 20 == 0) shmem_long_put(block, source, WORDS, target);
        times[round] = now_ms() - begin;
    }
    shmem_quiet();
    shmem_long_p(&done[me], ROUNDS, target);
    shmem_quiet();
    qsort(times, ROUNDS, sizeof times[0], by_size);
    printf("PE %d: a round (put, quiet, get, atomic) takes %.3f ms, 95 of 100 at most %.3f ms, all %.3f ms\n", me,
           times[ROUNDS / 2], times[ROUNDS * 95 / 100], times[ROUNDS - 1]);
}

int main(void)
{
    shmem_init();
    int n = shmem_n_pes();
    if (!CHECK(n >= 2 && n <= PES_MAX)) shmem_global_exit(1);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) compute_until_all_are_done(n);
    else reach(0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) CHECK_EQUAL(counter, (long)ROUNDS * (n - 1));
    shmem_finalize();
    return api_result();
}
