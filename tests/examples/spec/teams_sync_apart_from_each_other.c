/* SPDX-License-Identifier: Apache-2.0
 *
 * Multiples of two and multiples of three (PE 0 is in neither): each team passes numbers round its own ring, then all meet, then
 * the other team does. Who is in both has the later number, who is in none keeps what it had.
 * Spec: OpenSHMEM 1.6 §9.10.3 shmem_sync, §9.4.6 shmem_team_split_strided
 * Does what the specification's shmem_sync_example does.
 * PES: 2 4 7
 */
#include "../../api/api.h"

static int word = -31;

/* The team of the world's multiples of step, without PE 0; SHMEM_TEAM_INVALID for others, and where there are none. */
static shmem_team_t multiples_of(int step)
{
    shmem_team_t team  = SHMEM_TEAM_INVALID;
    int          count = (shmem_n_pes() - 1) / step;
    if (count > 0) CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, step, step, count, NULL, 0, &team), 0);
    return team;
}

static void ring(shmem_team_t team, int value)
{
    if (team == SHMEM_TEAM_INVALID) return;
    int next = (shmem_team_my_pe(team) + 1) % shmem_team_n_pes(team);
    shmem_p(&word, value, shmem_team_translate_pe(team, next, SHMEM_TEAM_WORLD));
    shmem_quiet();
    CHECK_EQUAL(shmem_sync(team), 0);
    CHECK_EQUAL(word, value);
}

int main(void)
{
    shmem_init();
    int          me   = shmem_my_pe();
    shmem_team_t twos = multiples_of(2), threes = multiples_of(3);
    ring(twos, 222);
    CHECK_EQUAL(shmem_sync(SHMEM_TEAM_WORLD), 0);
    ring(threes, 333);
    shmem_sync_all();
    CHECK_EQUAL(word, me > 0 && me % 3 == 0 ? 333 : me > 0 && me % 2 == 0 ? 222 : -31);
    shmem_team_destroy(threes);
    shmem_team_destroy(twos);
    shmem_finalize();
    return api_result();
}
