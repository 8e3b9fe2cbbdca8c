/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics on one word exclude each other on all contexts of a domain: the default one, private and serialized ones, and those of
 * teams that were split from the world, once and twice. No addition is lost, and no number is drawn twice.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees
 * PES: 2 3
 */
#include "../api.h"

enum { ROUNDS = 200, CONTEXTS = 5, PES_MAX = 8 };

static long sum, ticket, drawn[PES_MAX * ROUNDS * CONTEXTS];

/* World numbers mean another PE on the contexts of teams. */
static int number_of_0(shmem_ctx_t ctx)
{
    shmem_team_t team;
    CHECK_EQUAL(shmem_ctx_get_team(ctx, &team), 0);
    return shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, team);
}

int main(void)
{
    shmem_ctx_t  ctx[CONTEXTS] = {SHMEM_CTX_DEFAULT};
    shmem_team_t turned, again;
    shmem_init();
    int n = shmem_n_pes();
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &turned), 0);
    CHECK_EQUAL(shmem_team_split_strided(turned, n - 1, -1, n, NULL, 0, &again), 0);
    CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx[1]), 0);
    CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE, &ctx[2]), 0);
    CHECK_EQUAL(shmem_team_create_ctx(turned, 0, &ctx[3]), 0);
    CHECK_EQUAL(shmem_team_create_ctx(again, SHMEM_CTX_PRIVATE, &ctx[4]), 0);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < CONTEXTS; i++) {
            int zero = number_of_0(ctx[i]);
            shmem_ctx_long_atomic_add(ctx[i], &sum, i + 1, zero);
            long number = shmem_ctx_long_atomic_fetch_inc(ctx[i], &ticket, zero);
            if (CHECK(number >= 0 && number < n * ROUNDS * CONTEXTS)) shmem_ctx_long_atomic_inc(ctx[i], &drawn[number], zero);
        }
    for (int i = 1; i < CONTEXTS; i++) shmem_ctx_quiet(ctx[i]);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        CHECK_EQUAL(sum, (long)n * ROUNDS * CONTEXTS * (CONTEXTS + 1) / 2);
        for (int i = 0; i < n * ROUNDS * CONTEXTS; i++) CHECK_EQUAL(drawn[i], 1);
    }
    for (int i = 1; i < CONTEXTS; i++) shmem_ctx_destroy(ctx[i]);
    shmem_finalize();
    return api_result();
}
