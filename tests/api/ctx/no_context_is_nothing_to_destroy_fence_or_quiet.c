/* SPDX-License-Identifier: Apache-2.0
 *
 * On SHMEM_CTX_INVALID destroy, fence, quiet and pe_quiet do nothing, and get_team says so.
 * Spec: OpenSHMEM 1.6 §9.5.3 shmem_ctx_destroy, §9.5.4 shmem_ctx_get_team, §9.12.1 to §9.12.3
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    shmem_team_t team = SHMEM_TEAM_WORLD;
    int          pe   = 0;
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &pe, 1);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
