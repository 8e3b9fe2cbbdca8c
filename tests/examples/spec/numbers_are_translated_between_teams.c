/* SPDX-License-Identifier: Apache-2.0
 *
 * A team of every second PE counted from the last one downwards: its numbers and the world's, and back.
 * Spec: OpenSHMEM 1.6 §9.4.5 shmem_team_translate_pe
 * Does what the specification's shmem_team_translate_pe does.
 * PES: 2 3 5
 */
#include "../../api/api.h"

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes(), size = (n + 1) / 2;
    shmem_team_t down = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -2, size, NULL, 0, &down), 0);
    CHECK((down != SHMEM_TEAM_INVALID) == ((n - 1 - shmem_my_pe()) % 2 == 0));
    if (down != SHMEM_TEAM_INVALID) {
        CHECK_EQUAL(shmem_team_translate_pe(down, shmem_team_my_pe(down), SHMEM_TEAM_WORLD), shmem_my_pe());
        for (int i = 0; i < size; i++) {
            CHECK_EQUAL(shmem_team_translate_pe(down, i, SHMEM_TEAM_WORLD), n - 1 - 2 * i);
            CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n - 1 - 2 * i, down), i);
        }
        for (int pe = n - 2; pe >= 0; pe -= 2) CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, down), -1);
        shmem_team_destroy(down);
    }
    shmem_finalize();
    return api_result();
}
