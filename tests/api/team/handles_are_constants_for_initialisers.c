/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles are link-time constants, valid in the initialiser of a static object, and comparable with ==.
 * Spec: OpenSHMEM 1.6 §7 Library Handles
 */
#include "../api.h"

static shmem_team_t              world = SHMEM_TEAM_WORLD, shared = SHMEM_TEAM_SHARED, no_team = SHMEM_TEAM_INVALID;
static _Thread_local shmem_ctx_t no_ctx     = SHMEM_CTX_INVALID;
static shmem_ctx_t               by_default = SHMEM_CTX_DEFAULT;
static const struct {
    shmem_team_t team;
    shmem_ctx_t  ctx;
} table[] = {{SHMEM_TEAM_WORLD, SHMEM_CTX_DEFAULT}};
static long word;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    CHECK(world != shared && world != no_team && shared != no_team && no_ctx != by_default);
    CHECK(table[0].team == world && table[0].ctx == by_default);
    CHECK_EQUAL(shmem_team_my_pe(world), me);
    CHECK(shmem_team_n_pes(shared) >= 1);
    CHECK_EQUAL(shmem_team_my_pe(no_team), -1);
    shmem_ctx_long_p(by_default, &word, me + 1, (me + 1) % n);
    shmem_ctx_quiet(no_ctx);
    shmem_ctx_quiet(by_default);
    shmem_barrier_all();
    CHECK_EQUAL(word, (me + n - 1) % n + 1);
    shmem_finalize();
    return api_result();
}
