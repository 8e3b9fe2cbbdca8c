/* SPDX-License-Identifier: Apache-2.0
 *
 * The mask is the second argument; mask 0 does nothing, and config may be NULL then.
 * Spec: OpenSHMEM 1.6 §9.4.3 shmem_team_config_t, §9.4.4 shmem_team_get_config
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    const shmem_team_t teams[] = {SHMEM_TEAM_WORLD, SHMEM_TEAM_SHARED};
    for (int i = 0; i < 2; i++) {
        shmem_team_config_t config = {.num_contexts = 123};
        CHECK_EQUAL(shmem_team_get_config(teams[i], 0, NULL), 0);
        CHECK_EQUAL(shmem_team_get_config(teams[i], 0, &config), 0);
        CHECK_EQUAL(config.num_contexts, 123);
        CHECK_EQUAL(shmem_team_get_config(teams[i], SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
        CHECK(config.num_contexts >= 0 && config.num_contexts != 123);
    }
    shmem_finalize();
    return api_result();
}
