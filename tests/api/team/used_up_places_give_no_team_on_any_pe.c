/* SPDX-License-Identifier: Apache-2.0
 *
 * Room for six teams of more than one PE besides the predefined ones. The seventh is refused on all PEs alike, also for a split by two ranges, of which
 * then neither is made; the teams that exist go on working, and a place that is given back is used again. Teams of one need no place.
 *
 * PES: 2 3 4
 * ENV: POSTERN_TEAMS=8 POSTERN_LOG=error POSTERN_CHAOS_DELAY=2us
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §9.4.7 shmem_team_split_2d
 */
#include "../api.h"

enum { PLACES = 6 };

static bool make(shmem_team_t parent, shmem_team_t *team)
{
    int err = shmem_team_split_strided(parent, 0, 1, shmem_team_n_pes(parent), NULL, 0, team);
    CHECK((err == 0) == (*team != SHMEM_TEAM_INVALID));
    return err == 0;
}

int main(void)
{
    shmem_team_t teams[PLACES], refused = SHMEM_TEAM_WORLD, row, column, single;
    shmem_init();
    int n = shmem_n_pes();
    for (int i = 0; i < PLACES; i++) CHECK(make(SHMEM_TEAM_WORLD, &teams[i]));
    for (int i = 0; i < 3; i++) CHECK(!make(teams[i], &refused));
    /* One place is free, a split by two ranges may need two: all or nothing. */
    shmem_team_destroy(teams[3]);
    int err = shmem_team_split_2d(SHMEM_TEAM_WORLD, n, NULL, 0, &row, NULL, 0, &column);
    CHECK((err == 0) == (row != SHMEM_TEAM_INVALID) && (err == 0) == (column != SHMEM_TEAM_INVALID));
    shmem_team_destroy(row);
    shmem_team_destroy(column);
    CHECK(make(teams[0], &teams[3]));
    CHECK(!make(SHMEM_TEAM_WORLD, &refused));
    for (int i = 0; i < PLACES; i++) CHECK_EQUAL(shmem_team_sync(teams[i]), 0);
    for (int i = 0; i < PLACES; i++) shmem_team_destroy(teams[i]);
    for (int i = 0; i < PLACES; i++) CHECK(make(SHMEM_TEAM_WORLD, &teams[i]));
    for (int i = PLACES - 1; i >= 0; i--) shmem_team_destroy(teams[i]);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &single), 0);
    CHECK((single != SHMEM_TEAM_INVALID) == (shmem_my_pe() == 0));
    shmem_finalize();
    return api_result();
}
