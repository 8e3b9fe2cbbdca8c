/* SPDX-License-Identifier: Apache-2.0
 *
 * Teams that are made and destroyed leave nothing behind: after the first few hundred, 3,000 more allocate nothing that stays
 * (under ASan, which counts otherwise, its leak detector finds them). And many are alive at once, overlapping: each still has
 * its own members.
 * Spec: OpenSHMEM 1.6 §9.4 Team Management Routines, §9.4.6 shmem_team_split_strided, §9.4.8 shmem_team_destroy
 * PES: 1 2 3
 */
#include "../api.h"

#include <malloc.h>

enum { WARM_UP = 300, TEAMS = 3000, AT_ONCE = 100, SLACK_BYTES = 32 << 10 };

/* What is allocated now. A team is less than a hundred bytes, which pages would hide. */
static long allocated(void)
{
    return (long)mallinfo2().uordblks;
}

static void make_and_destroy(int count)
{
    int n = shmem_n_pes();
    for (int i = 0; i < count; i++) {
        shmem_team_t team;
        CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, i % n, 1, n - i % n, NULL, 0, &team), 0);
        if (team == SHMEM_TEAM_INVALID) continue;
        if (i % 50 == 0) CHECK_EQUAL(shmem_team_sync(team), 0);
        shmem_team_destroy(team);
    }
}

int main(void)
{
    shmem_team_t teams[AT_ONCE];
    shmem_init();
    int n = shmem_n_pes(), me = shmem_my_pe();
    make_and_destroy(WARM_UP);
    long before = allocated();
    make_and_destroy(TEAMS);
    long grown = allocated() - before;
    CHECK(grown < SLACK_BYTES);
    if (me == 0) printf("%d teams: %ld bytes more\n", TEAMS, grown);
    for (int i = 0; i < AT_ONCE; i++)
        CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, 1 + i % n, NULL, 0, &teams[i]), 0);
    for (int i = AT_ONCE - 1; i >= 0; i--) {
        bool inside = me >= n - 1 - i % n;
        CHECK_EQUAL(shmem_team_n_pes(teams[i]), inside ? 1 + i % n : -1);
        CHECK_EQUAL(shmem_team_my_pe(teams[i]), inside ? n - 1 - me : -1);
        if (!inside) continue;
        CHECK_EQUAL(shmem_team_sync(teams[i]), 0);
        shmem_team_destroy(teams[i]);
    }
    shmem_finalize();
    return api_result();
}
