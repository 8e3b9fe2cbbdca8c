/* SPDX-License-Identifier: Apache-2.0
 *
 * Teams made by splits of the world, each with PEs of several nodes or of one: they meet, their contexts reach each member by its number, and a
 * barrier of the job completes what they have put.
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §9.5.2 shmem_team_create_ctx, §9.10.3 shmem_team_sync
 * NODES: a,b a:2,b
 * PES: 3 8
 */
#include "nodes.h"

static long words[3][NODES_PES_MAX];

/* Every member puts its number to every other. */
static void meet(shmem_team_t team, long *row)
{
    int         size = shmem_team_n_pes(team), me = shmem_team_my_pe(team);
    shmem_ctx_t ctx;
    if (!CHECK_EQUAL(shmem_team_create_ctx(team, 0, &ctx), 0)) return;
    for (int pe = 0; pe < size; pe++) shmem_ctx_long_p(ctx, &row[me], 1 + shmem_my_pe(), pe);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    for (int pe = 0; pe < size; pe++)
        CHECK_EQUAL(shmem_long_atomic_fetch(&row[pe], shmem_my_pe()), 1 + shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD));
    shmem_team_sync(team);
    shmem_ctx_destroy(ctx);
}

int main(void)
{
    shmem_init();
    int          n        = shmem_n_pes();
    shmem_team_t backward = SHMEM_TEAM_INVALID, odd = SHMEM_TEAM_INVALID, copy = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &backward), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &odd), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_SHARED, 0, 1, shmem_team_n_pes(SHMEM_TEAM_SHARED), NULL, 0, &copy), 0);
    meet(backward, words[0]);
    if (odd != SHMEM_TEAM_INVALID) meet(odd, words[1]);
    meet(copy, words[2]);
    shmem_team_destroy(copy);
    shmem_team_destroy(odd);
    shmem_team_destroy(backward);
    shmem_finalize();
    return api_result();
}
