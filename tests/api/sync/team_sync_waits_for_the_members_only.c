/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_team_sync meets the members of its team and nobody else: two teams that share no PE synchronize at their own pace, and a
 * team synchronizes while the PEs outside wait for its members. Plain stores before it are visible after it. The generic
 * shmem_sync takes a team too.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.10.3 shmem_team_sync
 * PES: 2 3 5
 */
#include "../api.h"

enum { ROUNDS = 200 };

static long counts[8], turn;

/* Nobody leaves before all have come: the counts of the others are this round's, or the next one's. */
static void meet(shmem_team_t team, long *own, long round)
{
    int n = shmem_team_n_pes(team);
    __atomic_store_n(own, round, __ATOMIC_RELAXED);
    if (round % 2) CHECK_EQUAL(shmem_team_sync(team), 0);
    else CHECK_EQUAL(shmem_sync(team), 0);
    for (int pe = 0; pe < n; pe++) {
        int  world = shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD);
        long seen  = shmem_long_g(own, world);
        CHECK(seen >= round && seen <= round + 1);
    }
}

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes(), me = shmem_my_pe();
    shmem_team_t low, high;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n / 2, NULL, 0, &low), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n - n / 2, NULL, 0, &high), 0);
    for (long round = 1; round <= ROUNDS; round++) {
        if (low != SHMEM_TEAM_INVALID) {
            meet(low, &counts[0], round);
            if (me == 0)
                for (int pe = n / 2; pe < n; pe++) shmem_long_atomic_inc(&turn, pe); /* sets could overtake each other */
        } else {
            shmem_long_wait_until(&turn, SHMEM_CMP_GE, round); /* the low ones meet while the high ones are here */
            for (int i = 0; i < 3; i++) meet(high, &counts[1], 3 * round + i);
        }
    }
    if (low != SHMEM_TEAM_INVALID) shmem_team_destroy(low);
    if (high != SHMEM_TEAM_INVALID) shmem_team_destroy(high);
    shmem_finalize();
    return api_result();
}
