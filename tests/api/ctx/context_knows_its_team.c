/* SPDX-License-Identifier: Apache-2.0
 *
 * The default context and those of shmem_ctx_create belong to the world, others to the team they
 * were made for.
 * Spec: OpenSHMEM 1.6 §9.5 Communication Management Routines, §9.5.1 shmem_ctx_create, §9.5.4 shmem_ctx_get_team
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    shmem_ctx_t  ctx;
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);

    team = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
    CHECK_EQUAL(shmem_ctx_get_team(ctx, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(ctx);

    CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_WORLD, SHMEM_CTX_PRIVATE, &ctx), 0);
    CHECK_EQUAL(shmem_ctx_get_team(ctx, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(ctx);

    CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx), 0);
    CHECK_EQUAL(shmem_ctx_get_team(ctx, &team), 0);
    CHECK(team == SHMEM_TEAM_SHARED);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return api_result();
}
