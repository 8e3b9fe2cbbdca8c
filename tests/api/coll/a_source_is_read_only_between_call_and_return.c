/* SPDX-License-Identifier: Apache-2.0
 *
 * A source is ready when its own PE calls, and free when the call returns there: each PE fills its source just before, some come
 * late, and each writes over it at once afterwards, while others are still in the call. Nobody may read it early or late, nor
 * find an incomplete dest. Of short blocks and long ones, in all collectives that have a source.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.10.5 to §9.10.10
 * PES: 2 3 5
 * ENV: POSTERN_CHAOS_DELAY=5us SHMEM_SYMMETRIC_SIZE=64M
 */
#include "../api.h"

#include <sched.h>

enum { KINDS = 8, ROUNDS = 6, SIZES = 3, PES_MAX = 8, LONGEST = 3000 };

static const int sizes[SIZES] = {1, 50, LONGEST};
static long     *source, *dest;

/* Element i of the block that PE from has for PE to, in a round. */
static long value(int from, int to, int i, int round)
{
    return round * 1000000L + from * 10000 + to * 1000 + i % 1000;
}

static void dawdle(int round, int kind)
{
    int me = shmem_my_pe();
    for (int i = 0; i < (round * 5 + kind * 3 + me * 7) % 4 * 15; i++) sched_yield();
}

static int call(int kind, long *to, int count, int root)
{
    switch (kind) {
    case 0: return shmem_long_broadcast(SHMEM_TEAM_WORLD, to, source, (size_t)count, root);
    case 1: return shmem_long_collect(SHMEM_TEAM_WORLD, to, source, (size_t)count);
    case 2: return shmem_long_fcollect(SHMEM_TEAM_WORLD, to, source, (size_t)count);
    case 3: return shmem_long_alltoall(SHMEM_TEAM_WORLD, to, source, (size_t)count);
    case 4: return shmem_long_alltoalls(SHMEM_TEAM_WORLD, to, source, 1, 1, (size_t)count);
    case 5: return shmem_long_sum_reduce(SHMEM_TEAM_WORLD, to, source, (size_t)count);
    case 6: return shmem_long_sum_inscan(SHMEM_TEAM_WORLD, to, source, (size_t)count);
    default: return shmem_long_sum_exscan(SHMEM_TEAM_WORLD, to, source, (size_t)count);
    }
}

/* What belongs to block b, element i of my dest. */
static long wanted(int kind, int b, int i, int root, int round)
{
    int  me = shmem_my_pe(), n = shmem_n_pes();
    long sum = 0;
    if (kind == 0) return value(root, 0, i, round);
    if (kind <= 2) return value(b, 0, i, round);
    if (kind <= 4) return value(b, me, i, round);
    for (int pe = 0; pe < (kind == 5 ? n : kind == 6 ? me + 1 : me); pe++) sum += value(pe, 0, i, round);
    return sum;
}

static void step(int kind, int size, int round)
{
    int   me = shmem_my_pe(), n = shmem_n_pes(), count = sizes[size], root = (round + kind) % n;
    int   blocks = kind >= 1 && kind <= 4 ? n : 1;
    long *to     = dest + (long)(kind % 2) * PES_MAX * LONGEST;
    dawdle(round, kind);
    for (int b = 0; b < n; b++)
        for (int i = 0; i < count; i++) source[b * count + i] = value(me, b, i, round);
    bool right = CHECK_EQUAL(call(kind, to, count, root), 0);
    memset(source, 0xFF, (size_t)n * (size_t)count * sizeof *source);
    for (int b = 0; b < blocks && right; b++)
        for (int i = 0; i < count && right; i++) right = CHECK_EQUAL(to[b * count + i], wanted(kind, b, i, root, round));
    if (!right) fprintf(stderr, "... kind %d, %d elements, round %d\n", kind, count, round);
}

int main(void)
{
    shmem_init();
    source = shmem_malloc(PES_MAX * LONGEST * sizeof *source);
    dest   = shmem_malloc(2 * PES_MAX * LONGEST * sizeof *dest);
    if (!CHECK(source && dest)) shmem_global_exit(1);
    for (int round = 1; round <= ROUNDS; round++)
        for (int size = 0; size < SIZES; size++)
            for (int kind = 0; kind < KINDS; kind++) {
                step(kind, size, round);
                if (kind % 2 == 1) shmem_sync_all(); /* each half of dest is ready again on all PEs */
            }
    shmem_free(dest);
    shmem_free(source);
    shmem_finalize();
    return api_result();
}
