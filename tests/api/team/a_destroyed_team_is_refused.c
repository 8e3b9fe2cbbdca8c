/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=0
 * STATUS: 1
 * OUTPUT: shmem_team_sync: there is no such team
 *
 * Without checks too, a collective on a team that was destroyed ends the job with a message, not with a crash.
 * Spec: OpenSHMEM 1.6 §9.4.8 shmem_team_destroy
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    shmem_team_t team;
    int          n = shmem_n_pes();
    if (shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team) != 0) return 2;
    shmem_team_destroy(team);
    shmem_team_sync(team);
    shmem_finalize();
    return 0;
}
