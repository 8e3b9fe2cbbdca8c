/* SPDX-License-Identifier: Apache-2.0
 *
 * With nelems 0 the pointers may be NULL, in every call and in checked mode too; in collect where some or all PEs have nothing.
 *
 * PES: 1 2 3
 * ENV: POSTERN_CHECK=1 POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long dest[64], mine = 7, psync[4][SHMEM_COLLECT_SYNC_SIZE];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < SHMEM_COLLECT_SYNC_SIZE; j++) psync[i][j] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, NULL, NULL, 0, n - 1), 0);
        CHECK_EQUAL(shmem_long_fcollect(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
        CHECK_EQUAL(shmem_long_collect(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
        CHECK_EQUAL(shmem_long_alltoall(SHMEM_TEAM_WORLD, NULL, NULL, 0), 0);
        CHECK_EQUAL(shmem_long_alltoalls(SHMEM_TEAM_WORLD, NULL, NULL, 1, 1, 0), 0);
        /* Only the last PE has something. */
        dest[0] = 0;
        shmem_barrier_all();
        CHECK_EQUAL(shmem_long_collect(SHMEM_TEAM_WORLD, dest, me == n - 1 ? &mine : NULL, me == n - 1), 0);
        CHECK_EQUAL(dest[0], 7);
        CHECK_EQUAL(dest[1], 0);
        shmem_barrier_all();
        shmem_broadcast64(NULL, NULL, 0, 0, 0, 0, n, psync[0]);
        shmem_fcollect32(NULL, NULL, 0, 0, 0, n, psync[1]);
        shmem_collect64(NULL, NULL, 0, 0, 0, n, psync[2]);
        shmem_alltoall32(NULL, NULL, 0, 0, 0, n, psync[3]);
    }
    shmem_finalize();
    return api_result();
}
