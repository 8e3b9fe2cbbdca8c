/* SPDX-License-Identifier: Apache-2.0
 *
 * Every collective with source and dest in host and GPU memory in every mix, small and large, in place where the standard has it, over a team and
 * over an active set; results are compared with those that a PE works out alone.
 * PES: 1 2 3
 * ENV: POSTERN_CUDA_HEAP=8M
 * VARIANTS: staged chaos
 */
#include "gpu.h"

enum { MOST = 40000 };

static int me, n;

static long value(int pe, size_t at)
{
    return (long)(pe + 1) * 1000003 + (long)at * 7;
}

static void fill(long *array, size_t count)
{
    long *host = malloc(count * sizeof *host);
    for (size_t i = 0; i < count; i++) host[i] = value(me, i);
    shmem_putmem(array, host, count * sizeof *host, me);
    free(host);
}

static long *copy_of(const long *array, size_t count)
{
    long *host = malloc(count * sizeof *host);
    shmem_getmem(host, array, count * sizeof *host, me);
    return host;
}

/* Wrong elements of an array of which element i should be wanted(i). */
#define COUNT_WRONG(ARRAY, COUNT, WANTED)       \
    do {                                        \
        long  *seen_  = copy_of(ARRAY, COUNT);  \
        size_t wrong_ = 0;                      \
        for (size_t i = 0; i < (COUNT); i++)    \
            if (seen_[i] != (WANTED)) wrong_++; \
        CHECK_EQUAL(wrong_, 0);                 \
        free(seen_);                            \
    } while (0)

static long sum_to(int last, size_t at)
{
    long sum = 0;
    for (int pe = 0; pe <= last; pe++) sum += value(pe, at);
    return sum;
}

static void move_data(long *dest, long *source, size_t count)
{
    size_t part = count / (size_t)n;
    fill(source, count);
    gpu_clear(dest, MOST * sizeof *dest);
    shmem_barrier_all();
    CHECK(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, count, n - 1) == 0);
    COUNT_WRONG(dest, count, value(n - 1, i));
    shmem_barrier_all();
    CHECK(shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, part) == 0);
    COUNT_WRONG(dest, part * (size_t)n, value((int)(i / part), i % part));
    shmem_barrier_all();
    if (part == 0) return;
    CHECK(shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, part) == 0);
    COUNT_WRONG(dest, part * (size_t)n, value((int)(i / part), (size_t)me * part + i % part));
    shmem_barrier_all();
    CHECK(shmem_long_collect(SHMEM_TEAM_WORLD, dest, me == 0 ? NULL : source, me == 0 ? 0 : part) == 0);
    COUNT_WRONG(dest, part * (size_t)(n - 1), value((int)(i / part) + 1, i % part));
    shmem_barrier_all();
}

static void join_data(long *dest, long *source, size_t count)
{
    fill(source, count);
    shmem_barrier_all();
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, count) == 0);
    COUNT_WRONG(dest, count, sum_to(n - 1, i));
    CHECK(shmem_long_max_reduce(SHMEM_TEAM_WORLD, dest, source, count) == 0);
    COUNT_WRONG(dest, count, value(n - 1, i));
    CHECK(shmem_long_sum_inscan(SHMEM_TEAM_WORLD, dest, source, count) == 0);
    COUNT_WRONG(dest, count, sum_to(me, i));
    CHECK(shmem_long_sum_exscan(SHMEM_TEAM_WORLD, dest, source, count) == 0);
    COUNT_WRONG(dest, count, sum_to(me - 1, i));
    CHECK(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, source, source, count) == 0); /* in place */
    COUNT_WRONG(source, count, sum_to(n - 1, i));
    shmem_barrier_all();
}

static void strided_blocks(long *dest, long *source)
{
    enum { EACH = 9 };
    fill(source, (size_t)(n * EACH * 3));
    gpu_clear(dest, (size_t)(n * EACH * 2) * sizeof *dest);
    shmem_barrier_all();
    CHECK(shmem_long_alltoalls(SHMEM_TEAM_WORLD, dest, source, 2, 3, EACH) == 0);
    COUNT_WRONG(dest, (size_t)(n * EACH * 2), i % 2 ? 0 : value((int)(i / 2 / EACH), ((size_t)me * EACH + i / 2 % EACH) * 3));
    shmem_barrier_all();
}

static void over_active_sets(long *dest, long *source)
{
    static long psync[SHMEM_SYNC_SIZE], pwork[SHMEM_REDUCE_MIN_WRKDATA_SIZE + MOST / 2 + 1];
    for (int i = 0; i < SHMEM_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
    fill(source, 100);
    shmem_barrier_all();
    shmem_long_sum_to_all(dest, source, 100, 0, 0, n, pwork, psync);
    COUNT_WRONG(dest, 100, sum_to(n - 1, i));
    shmem_barrier_all();
    gpu_clear(dest, 100 * sizeof *dest);
    shmem_barrier_all();
    shmem_broadcast64(dest, source, 100, 0, 0, 0, n, psync);
    COUNT_WRONG(dest, 100, me == 0 ? 0 : value(0, i)); /* the root's dest is not written */
    shmem_barrier_all();
}

int main(void)
{
    static const size_t counts[] = {3, 12, 1000, MOST};
    shmem_init();
    me = shmem_my_pe();
    n  = shmem_n_pes();
    long *array[2][2];
    for (int gpu = 0; gpu < 2; gpu++)
        for (int i = 0; i < 2; i++) {
            array[gpu][i] = shmem_malloc_with_hints(MOST * sizeof(long), gpu ? SHMEMX_MEM_CUDA : SHMEMX_MEM_HOST);
            CHECK(array[gpu][i] != NULL);
        }
    for (int mix = 0; mix < 4; mix++) {
        long *dest = array[mix & 1][0], *source = array[mix >> 1][1];
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
            move_data(dest, source, counts[i]);
            join_data(dest, source, counts[i]);
        }
        strided_blocks(dest, source);
        over_active_sets(dest, source);
    }
    shmem_finalize();
    return api_result();
}
