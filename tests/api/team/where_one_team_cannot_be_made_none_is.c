/* SPDX-License-Identifier: Apache-2.0
 *
 * Where a team cannot be made on some PE, all PEs of the parent get nonzero and no team, also those whose part of it could have
 * been made: split_2d gives both its teams or neither. Here places run out, on the first PE before the others. The library works
 * on, and once places are free the same calls succeed.
 * Spec: OpenSHMEM 1.6 §9.4 Team Management Routines, §9.4.6 shmem_team_split_strided, §9.4.7 shmem_team_split_2d
 * PES: 2 3 5
 * ENV: POSTERN_TEAMS=16
 */
#include "../api.h"

enum { TEAMS_MAX = 32 };

static long result[8];

/* All PEs have the same answer. Collective over the world. */
static void agree(int how)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&result[me], how, (me + 1) % n);
    shmem_barrier_all();
    CHECK_EQUAL(result[(me + n - 1) % n], how);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes(), made = 0, taken = 0, how = 0;
    shmem_team_t teams[TEAMS_MAX], pair[TEAMS_MAX] = {SHMEM_TEAM_INVALID}, x, y;

    /* Two places of PEs 0 and 1 are taken by teams of theirs, which others do not have. */
    for (; taken < 2; taken++) CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 2, NULL, 0, &pair[taken]), 0);
    while (made < TEAMS_MAX && (how = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &teams[made])) == 0) {
        agree(how);
        made++;
    }
    CHECK(made > 0 && made < TEAMS_MAX && teams[made] == SHMEM_TEAM_INVALID);
    agree(how);
    shmem_team_destroy(teams[--made]);

    /* One place: not enough for rows and columns of the world, which are the world and teams of one, where there is one row. */
    x = y = SHMEM_TEAM_WORLD;
    how   = shmem_team_split_2d(SHMEM_TEAM_WORLD, n > 2 ? 2 : n, NULL, 0, &x, NULL, 0, &y);
    agree(how != 0);
    CHECK_EQUAL(x == SHMEM_TEAM_INVALID, how != 0);
    CHECK_EQUAL(y == SHMEM_TEAM_INVALID, how != 0);
    if (n > 2) CHECK(how != 0);

    shmem_team_destroy(x);
    shmem_team_destroy(y);
    while (made > 0) shmem_team_destroy(teams[--made]);
    CHECK_EQUAL(shmem_team_split_2d(SHMEM_TEAM_WORLD, n > 2 ? 2 : n, NULL, 0, &x, NULL, 0, &y), 0);
    CHECK_EQUAL(shmem_team_sync(x), 0);
    CHECK_EQUAL(shmem_team_sync(y), 0);
    shmem_finalize();
    return api_result();
}
