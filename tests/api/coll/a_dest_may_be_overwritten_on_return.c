/* SPDX-License-Identifier: Apache-2.0
 *
 * When a call returns, its dest belongs to the caller again: each PE overwrites its own at once, some come late, and what others get is right all the
 * same, although it may have been passed on from there.
 *
 * PES: 2 3 5
 * ENV: POSTERN_CHAOS_DELAY=200us
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.10.7 shmem_broadcast, §9.10.8 shmem_fcollect
 */
#include "../api.h"

#include <sched.h>

enum { ROUNDS = 12, COUNT = 400, PES_MAX = 8 };

static long source[COUNT], dest[2][ROUNDS][PES_MAX * COUNT];

static void use_up(long *is, size_t count, int from, int round)
{
    for (size_t i = 0; i < count; i++) {
        CHECK_EQUAL(is[i], from * 100000 + round * 1000 + (long)i);
        is[i] = -1;
    }
}

int main(void)
{
    shmem_init();
    int n = shmem_n_pes(), me = shmem_my_pe();
    if (!CHECK(n <= PES_MAX)) shmem_global_exit(1);
    for (int round = 0; round < ROUNDS; round++) {
        size_t count = round % 2 ? 20 : COUNT;
        for (size_t i = 0; i < count; i++) source[i] = me * 100000 + round * 1000 + (long)i;
        for (int i = 0; i < (me + round) % n * 10; i++) sched_yield();
        shmem_long_fcollect(SHMEM_TEAM_WORLD, dest[0][round], source, count);
        for (int k = 0; k < n; k++) use_up(dest[0][round] + (size_t)k * count, count, k, round);
        shmem_long_broadcast(SHMEM_TEAM_WORLD, dest[1][round], source, count, round % n);
        memset(source, 0, sizeof source);
        use_up(dest[1][round], count, round % n, round);
    }
    shmem_finalize();
    return api_result();
}
