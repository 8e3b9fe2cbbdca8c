/* SPDX-License-Identifier: Apache-2.0
 *
 * A context is made and destroyed by one PE alone, with no part of the others: here in turn, while they wait for a word that the
 * one at work sends when it is done.
 * Spec: OpenSHMEM 1.6 §9.5.1 shmem_ctx_create, §9.5.2 shmem_team_create_ctx, §9.5.3 shmem_ctx_destroy
 * PES: 2 3
 * TIMEOUT: 60
 */
#include "../api.h"

enum { ROUNDS = 10, CONTEXTS = 20 };

static long turn, data[8];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    for (long round = 0; round < ROUNDS; round++) {
        shmem_ctx_t ctx[CONTEXTS];
        shmem_long_wait_until(&turn, SHMEM_CMP_GE, round * n + me); /* PE 0 goes first */
        for (int i = 0; i < CONTEXTS; i++) {
            CHECK_EQUAL(i % 2 ? shmem_ctx_create(0, &ctx[i]) : shmem_team_create_ctx(SHMEM_TEAM_WORLD, SHMEM_CTX_PRIVATE, &ctx[i]),
                        0);
            shmem_ctx_long_p(ctx[i], &data[me], round * 100 + i, next);
            shmem_ctx_quiet(ctx[i]);
        }
        CHECK_EQUAL(shmem_long_g(&data[me], next), round * 100 + CONTEXTS - 1);
        for (int i = 0; i < CONTEXTS; i++) shmem_ctx_destroy(ctx[i]);
        for (int pe = 0; pe < n; pe++) shmem_long_atomic_inc(&turn, pe);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
