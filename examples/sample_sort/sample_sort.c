/* SPDX-License-Identifier: Apache-2.0
 *
 * Sample sort: every PE has many keys, and afterwards PE 0 has the smallest ones in order, PE 1 the next, and so on.
 *
 * Shows collectives that move data. Every PE sorts its keys and shows a few of them to all (fcollect); from these samples all
 * choose the same limits between PEs. alltoall tells each PE how many keys it will get from whom, and a second one answers where
 * to put them. Then the keys travel by puts, straight to their place.
 *
 * The check: keys grow within a PE and from PE to PE, none is lost (their number and sum stay, by reductions).
 *
 *     oshrun -n 4 sample_sort
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    KEYS_PER_PE = 100000,
    SAMPLES     = 64, /* of each PE; more of them share the keys out more evenly */
};

static uint64_t keys[KEYS_PER_PE];

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x          = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x          = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void *symmetric(size_t count, size_t bytes)
{
    void *memory = shmem_calloc(count, bytes);
    if (memory == NULL) shmem_global_exit(1);
    return memory;
}

/* How many of the sorted keys each PE gets: counts[pe]. All PEs compute the same limits. */
static void share_out(size_t *counts, size_t pes)
{
    uint64_t *mine = symmetric(SAMPLES, sizeof *mine), *all = symmetric(SAMPLES * pes, sizeof *all);
    for (size_t i = 0; i < SAMPLES; i++) mine[i] = keys[(2 * i + 1) * KEYS_PER_PE / (2 * SAMPLES)];
    shmem_fcollect(SHMEM_TEAM_WORLD, all, mine, SAMPLES);
    qsort(all, SAMPLES * pes, sizeof *all, compare);
    size_t pe = 0;
    for (size_t i = 0; i < KEYS_PER_PE; i++) {
        while (pe < pes - 1 && keys[i] >= all[(pe + 1) * SAMPLES]) pe++;
        counts[pe]++;
    }
    shmem_free(all);
    shmem_free(mine);
}

/* Send every key to its PE. Returns a symmetric array of *count_out keys, sorted. */
static uint64_t *exchange(size_t *count_out, size_t pes)
{
    static size_t count, largest;
    size_t       *going = symmetric(pes, sizeof *going), *coming = symmetric(pes, sizeof *coming);
    size_t       *place = symmetric(pes, sizeof *place), *there = symmetric(pes, sizeof *there);
    share_out(going, pes);
    shmem_alltoall(SHMEM_TEAM_WORLD, coming, going, 1);
    for (size_t pe = 0; pe < pes; pe++) {
        place[pe] = count; /* where those of PE pe begin here */
        count += coming[pe];
    }
    shmem_alltoall(SHMEM_TEAM_WORLD, there, place, 1);

    shmem_max_reduce(SHMEM_TEAM_WORLD, &largest, &count, 1); /* an allocation is equal on all PEs */
    uint64_t *sorted = symmetric(largest, sizeof *sorted), *from = keys;
    for (size_t pe = 0; pe < pes; pe++) {
        shmem_put_nbi(sorted + there[pe], from, going[pe], (int)pe);
        from += going[pe];
    }
    shmem_barrier_all();
    qsort(sorted, count, sizeof *sorted, compare);
    shmem_free(there);
    shmem_free(place);
    shmem_free(coming);
    shmem_free(going);
    *count_out = count;
    return sorted;
}

static uint64_t sum_of_all(const uint64_t *array, size_t count)
{
    static uint64_t mine, all;
    mine = 0;
    for (size_t i = 0; i < count; i++) mine += array[i];
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &mine, 1);
    return all;
}

/* Faults of all PEs: keys out of order, also toward the PE before, which hands on the largest key that came so far. */
static long count_wrong(const uint64_t *sorted, size_t count)
{
    static uint64_t limit;
    static long     turn, wrong, all;
    int             me = shmem_my_pe(), next = (me + 1) % shmem_n_pes();
    if (me > 0) shmem_wait_until(&turn, SHMEM_CMP_EQ, 1);
    for (size_t i = 0; i < count; i++) wrong += sorted[i] < (i > 0 ? sorted[i - 1] : limit);
    if (next > 0) {
        shmem_p(&limit, count > 0 ? sorted[count - 1] : limit, next);
        shmem_fence();
        shmem_p(&turn, 1, next);
    }
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all, &wrong, 1);
    return all;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void)
{
    static size_t count, total, fewest, most;
    shmem_init();
    size_t   pes   = (size_t)shmem_n_pes();
    uint64_t state = (uint64_t)shmem_my_pe() << 40;
    for (size_t i = 0; i < KEYS_PER_PE; i++)
        keys[i] = (next_random(&state) >> 32) * (next_random(&state) >> 34); /* small ones abound */
    uint64_t sum = sum_of_all(keys, KEYS_PER_PE);

    double start = now();
    qsort(keys, KEYS_PER_PE, sizeof *keys, compare);
    uint64_t *sorted  = exchange(&count, pes);
    double    seconds = now() - start;

    long wrong = count_wrong(sorted, count) + (sum_of_all(sorted, count) != sum);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &total, &count, 1);
    shmem_min_reduce(SHMEM_TEAM_WORLD, &fewest, &count, 1);
    shmem_max_reduce(SHMEM_TEAM_WORLD, &most, &count, 1);
    wrong += total != pes * KEYS_PER_PE;
    if (shmem_my_pe() == 0) {
        printf("sample_sort: %zu PEs, %zu keys in %.3f s, %zu to %zu keys on a PE, %ld faults\n", pes, total, seconds, fewest, most,
               wrong);
    }
    shmem_finalize();
    return wrong > 0;
}
