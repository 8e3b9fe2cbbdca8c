/* SPDX-License-Identifier: Apache-2.0
 *
 * An unknown bit in the mask, a selected field without a configuration, and a negative number of contexts give no team, on all PEs; of a split in two
 * ranges neither is made where one configuration is wrong. Splits go on working.
 *
 * PES: 1 2 3
 * ENV: POSTERN_LOG=error POSTERN_CHAOS_DELAY=2us
 * Spec: OpenSHMEM 1.6 §9.4.3 shmem_team_config_t, §9.4.6 shmem_team_split_strided, §9.4.7 shmem_team_split_2d
 */
#include "../api.h"

static void refused(const shmem_team_config_t *config, long mask)
{
    shmem_team_t team = SHMEM_TEAM_WORLD, row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, config, mask, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &row, config, mask, &column) != 0);
    CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team), 0);
    CHECK_EQUAL(shmem_team_sync(team), 0);
    shmem_team_destroy(team);
}

int main(void)
{
    const shmem_team_config_t three = {.num_contexts = 3}, negative = {.num_contexts = -1};
    shmem_init();
    refused(&three, 1L << 40);
    refused(&three, SHMEM_TEAM_NUM_CONTEXTS | 1L << 30);
    refused(NULL, SHMEM_TEAM_NUM_CONTEXTS);
    refused(&negative, SHMEM_TEAM_NUM_CONTEXTS);
    shmem_finalize();
    return api_result();
}
