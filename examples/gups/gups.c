/* SPDX-License-Identifier: Apache-2.0
 *
 * GUPS: giga-updates per second. Every PE adds to random words of one table that is spread over all PEs.
 *
 * Shows atomics: updates of several PEs meet in the same word, and none is lost. The check needs no second run: adding the same
 * numbers with the opposite sign must bring every word back to its first value.
 *
 *     oshrun -n 4 gups
 */
#include <shmem.h>
#include <stdio.h>
#include <time.h>

enum {
    WORDS_PER_PE   = 1 << 16,
    UPDATES_PER_PE = 1 << 18,
};

static uint64_t words[WORDS_PER_PE]; /* this PE's part of the table */
static long     wrong_words;         /* on PE 0: of all PEs         */

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x          = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x          = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Add (or subtract, with sign -1 as an unsigned number) this PE's numbers to its words. Equal calls choose equally. */
static void update(uint64_t sign)
{
    uint64_t pes   = (uint64_t)shmem_n_pes();
    uint64_t state = (uint64_t)shmem_my_pe() << 32;
    for (int i = 0; i < UPDATES_PER_PE; i++) {
        uint64_t random = next_random(&state);
        int      pe     = (int)(random % pes);
        size_t   word   = random / pes % WORDS_PER_PE;
        shmem_uint64_atomic_add(&words[word], sign * random, pe);
    }
    shmem_barrier_all(); /* completes them all */
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void)
{
    shmem_init();
    int me  = shmem_my_pe();
    int pes = shmem_n_pes();

    for (size_t i = 0; i < WORDS_PER_PE; i++) {
        words[i] = i;
    }
    shmem_barrier_all();

    double start = now();
    update(1);
    double seconds = now() - start;

    update((uint64_t)-1);
    long wrong = 0;
    for (size_t i = 0; i < WORDS_PER_PE; i++) {
        wrong += words[i] != i;
    }
    shmem_long_atomic_add(&wrong_words, wrong, 0);
    shmem_barrier_all();

    if (me == 0) {
        double updates = (double)UPDATES_PER_PE * pes;
        printf("gups: %d PEs, %.0f updates in %.3f s, %.4f GUPS, %ld wrong words\n", pes, updates, seconds,
               updates / seconds * 1e-9, wrong_words);
    }
    int status = me == 0 && wrong_words > 0;
    shmem_finalize();
    return status;
}
