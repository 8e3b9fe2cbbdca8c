/* SPDX-License-Identifier: Apache-2.0
 *
 * SHMEM_TEAM_INVALID gives -1, NULL or nonzero; a PE number outside the team -1.
 * Spec: OpenSHMEM 1.6 §9.1.10 shmem_team_ptr, §9.4 Team Management Routines, §9.4.1 to §9.4.8
 * Spec: OpenSHMEM 1.6 §9.5.2 shmem_team_create_ctx, §C Undefined Behavior
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    shmem_team_config_t config = {.num_contexts = 123};
    shmem_ctx_t         ctx    = SHMEM_CTX_DEFAULT;
    int                 n      = shmem_n_pes();
    char               *block  = shmem_malloc(1);
    CHECK_EQUAL(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, n, SHMEM_TEAM_WORLD), -1);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, -1, SHMEM_TEAM_WORLD), -1);
    CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_SHARED, n, SHMEM_TEAM_WORLD), -1);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config) != 0);
    CHECK_EQUAL(config.num_contexts, 123);
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, block, 0) == NULL);
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, block, n) == NULL);
    CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, block, -1) == NULL);
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID);
    shmem_finalize();
    return api_result();
}
