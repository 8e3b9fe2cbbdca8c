/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stress programs share: numbers from a seed that is printed, and how long to go on.
 *
 *   STRESS_SEED     repeat a run: the operations are the same, their timing is not
 *   STRESS_ROUNDS   rounds, else
 *   STRESS_SECONDS  seconds (default 2; `./dev test --all` asks for more)
 */
#ifndef POSTERN_TESTS_STRESS_H
#define POSTERN_TESTS_STRESS_H

#include "../api/api.h"

#include <time.h>

static inline double stress_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct stress_numbers {
    uint64_t state;
};

static inline uint64_t stress_next(struct stress_numbers *numbers)
{
    uint64_t x = numbers->state += UINT64_C(0x9E3779B97F4A7C15);
    x          = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x          = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* 0 ... below - 1 */
static inline size_t stress_pick(struct stress_numbers *numbers, size_t below)
{
    return (size_t)(stress_next(numbers) % below);
}

static inline long stress_environment(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? atol(text) : otherwise;
}

/* Collective: PE 0's seed, printed there. */
static inline uint64_t stress_seed(void)
{
    static uint64_t seed;
    if (shmem_my_pe() == 0) {
        uint64_t chosen =
            (uint64_t)stress_environment("STRESS_SEED", (long)(time(NULL) * 1000 + (long)(stress_now_s() * 1e6) % 1000));
        printf("STRESS_SEED=%" PRIu64 "\n", chosen);
        fflush(stdout);
        for (int pe = 0; pe < shmem_n_pes(); pe++) shmem_uint64_p(&seed, chosen, pe);
    }
    shmem_barrier_all();
    return seed;
}

/* Collective, after round number `round` (from 1): go on? PE 0 decides, so that all agree. */
static inline bool stress_go_on(long round, double start_s)
{
    static long stop[2];
    if (shmem_my_pe() == 0) {
        long rounds = stress_environment("STRESS_ROUNDS", 0);
        bool over   = rounds > 0 ? round >= rounds : stress_now_s() - start_s > (double)stress_environment("STRESS_SECONDS", 2);
        for (int pe = 0; pe < shmem_n_pes(); pe++) shmem_long_p(&stop[round % 2], over, pe);
    }
    shmem_barrier_all();
    return !stop[round % 2];
}

#endif
