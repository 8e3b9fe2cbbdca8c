/* SPDX-License-Identifier: Apache-2.0
 *
 * The PEs with even numbers make a team; in it they count 0, 1, 2. The others have no team.
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §9.4.1 shmem_team_my_pe, §9.4.2 shmem_team_n_pes
 * Does what the specification's shmem_team_split_strided does.
 * PES: 2 3 5
 */
#include "../../api/api.h"

int main(void)
{
    shmem_init();
    int          me = shmem_my_pe(), n = shmem_n_pes();
    shmem_team_t evens = SHMEM_TEAM_WORLD;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, NULL, 0, &evens), 0);
    if (me % 2 == 0) {
        if (CHECK(evens != SHMEM_TEAM_INVALID)) {
            CHECK_EQUAL(shmem_team_my_pe(evens), me / 2);
            CHECK_EQUAL(shmem_team_n_pes(evens), (n + 1) / 2);
        }
    } else {
        CHECK(evens == SHMEM_TEAM_INVALID);
        CHECK_EQUAL(shmem_team_my_pe(evens), -1);
        CHECK_EQUAL(shmem_team_n_pes(evens), -1);
    }
    shmem_team_destroy(evens);
    shmem_finalize();
    return api_result();
}
