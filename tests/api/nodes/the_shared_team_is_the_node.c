/* SPDX-License-Identifier: Apache-2.0
 *
 * SHMEM_TEAM_SHARED holds the PEs of the caller's node and no other, in the order of their numbers in the world, however the nodes lie in it;
 * it translates in both directions, and a context on it reaches each of them.
 * Spec: OpenSHMEM 1.6 §7 Library Handles, §9.4.1 shmem_team_my_pe, §9.4.2 shmem_team_n_pes, §9.4.5 shmem_team_translate_pe
 * NODES: a,b a:2,b b:3,a a,b,a,c a,b,c,d,e
 * PES: 2 3 5 8
 */
#include "nodes.h"

static long word;

int main(void)
{
    shmem_init();
    int         me = shmem_my_pe(), n = shmem_n_pes(), near[NODES_PES_MAX], count = nodes_list_near(near), mine = -1;
    shmem_ctx_t ctx;
    CHECK_EQUAL(shmem_team_n_pes(SHMEM_TEAM_SHARED), count);
    for (int i = 0; i < count; i++) {
        if (near[i] == me) mine = i;
        CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD), near[i]);
        CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, near[i], SHMEM_TEAM_SHARED), i);
    }
    CHECK_EQUAL(shmem_team_my_pe(SHMEM_TEAM_SHARED), mine);
    for (int pe = 0; pe < n; pe++)
        if (!nodes_near(pe)) CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pe, SHMEM_TEAM_SHARED), -1);

    /* Its members count its numbers: each adds one to each. */
    if (CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx), 0)) {
        for (int i = 0; i < count; i++) shmem_ctx_long_atomic_inc(ctx, &word, i);
        shmem_ctx_destroy(ctx);
    }
    shmem_team_sync(SHMEM_TEAM_SHARED);
    CHECK_EQUAL(shmem_long_atomic_fetch(&word, me), count);
    shmem_barrier_all();
    CHECK_EQUAL(word, count); /* and nobody else did */
    shmem_finalize();
    return api_result();
}
