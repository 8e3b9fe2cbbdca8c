/* SPDX-License-Identifier: Apache-2.0
 *
 * PEs that are not in the parent may make the same call with SHMEM_TEAM_INVALID: they get nonzero and no team, without joining.
 * Both splits; the PEs outside make more calls than the members, so that one that joined would disturb them.
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §9.4.7 shmem_team_split_2d
 * PES: 2 3 5
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes();
    shmem_team_t even, part = SHMEM_TEAM_WORLD, x = SHMEM_TEAM_WORLD, y = SHMEM_TEAM_WORLD;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &even), 0);
    bool inside = even != SHMEM_TEAM_INVALID;
    for (int i = 0; i < (inside ? 1 : 5); i++) {
        CHECK_EQUAL(shmem_team_split_strided(even, 0, 1, 1, NULL, 0, &part) == 0, inside);
        CHECK_EQUAL(shmem_team_split_2d(even, 1, NULL, 0, &x, NULL, 0, &y) == 0, inside);
        CHECK_EQUAL(part != SHMEM_TEAM_INVALID, inside && shmem_team_my_pe(even) == 0);
        CHECK_EQUAL(x != SHMEM_TEAM_INVALID, inside);
        CHECK_EQUAL(y != SHMEM_TEAM_INVALID, inside);
    }
    if (inside) {
        CHECK_EQUAL(shmem_team_n_pes(y), (n + 1) / 2);
        CHECK_EQUAL(shmem_team_sync(y), 0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
