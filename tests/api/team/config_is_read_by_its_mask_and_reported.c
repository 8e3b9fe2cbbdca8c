/* SPDX-License-Identifier: Apache-2.0
 *
 * num_contexts is a request that counts only where the mask selects it: with mask 0 the configuration may be NULL or hold
 * anything, and 0 is in force. It is reported by get_config, promises no context and forbids none.
 * Spec: OpenSHMEM 1.6 §9.4.3 shmem_team_config_t, §9.4.4 shmem_team_get_config
 * PES: 1 2 3
 */
#include "../api.h"

enum { WANTED = 3, MORE = 10 };

static void reports(shmem_team_t team, int wanted)
{
    shmem_team_config_t config = {.num_contexts = 777};
    CHECK_EQUAL(shmem_team_get_config(team, 0, &config), 0);
    CHECK_EQUAL(config.num_contexts, 777);
    CHECK_EQUAL(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
    CHECK_EQUAL(config.num_contexts, wanted);
}

int main(void)
{
    shmem_init();
    int                 n      = shmem_n_pes();
    shmem_team_config_t config = {.num_contexts = WANTED}, wild = {.num_contexts = -5};
    shmem_team_t        plain, asked, unread, row, column;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &plain), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, &config, SHMEM_TEAM_NUM_CONTEXTS, &asked), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, &wild, 0, &unread), 0);
    reports(plain, 0);
    reports(asked, WANTED);
    reports(unread, 0);
    CHECK_EQUAL(shmem_team_split_2d(asked, 2, &config, SHMEM_TEAM_NUM_CONTEXTS, &row, &wild, 0, &column), 0);
    reports(row, WANTED);
    reports(column, 0);

    shmem_ctx_t ctx[MORE];
    for (int i = 0; i < MORE; i++) CHECK_EQUAL(shmem_team_create_ctx(i % 2 ? asked : plain, 0, &ctx[i]), 0);
    for (int i = 0; i < MORE; i++) shmem_ctx_destroy(ctx[i]);
    shmem_team_destroy(column);
    shmem_team_destroy(row);
    shmem_team_destroy(unread);
    shmem_team_destroy(asked);
    shmem_team_destroy(plain);
    shmem_finalize();
    return api_result();
}
