/* SPDX-License-Identifier: Apache-2.0
 *
 * A counter that several contexts add to: all of them belong to teams that come from one predefined team, so their atomics exclude
 * each other. Contexts of the world and of a team split from it share one counter; those of SHMEM_TEAM_SHARED have their own.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.5.2 shmem_team_create_ctx
 * Does what the specification's amo_scenario_1 warns about, in the way that is defined.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { ROUNDS = 500 };
static uint64_t of_world, of_shared;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    int shared = shmem_team_n_pes(SHMEM_TEAM_SHARED), first = shmem_team_translate_pe(SHMEM_TEAM_SHARED, 0, SHMEM_TEAM_WORLD);
    shmem_team_t turned;
    shmem_ctx_t  straight, backward, node;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &turned), 0);
    CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_WORLD, 0, &straight), 0);
    CHECK_EQUAL(shmem_team_create_ctx(turned, 0, &backward), 0);
    CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &node), 0);

    for (int i = 0; i < ROUNDS; i++) {
        shmem_atomic_inc(straight, &of_world, n - 1);
        shmem_atomic_inc(backward, &of_world, 0); /* the same PE, counted from the other end */
        shmem_atomic_inc(node, &of_shared, 0);
    }
    shmem_ctx_quiet(straight);
    shmem_ctx_quiet(backward);
    shmem_ctx_quiet(node);
    shmem_barrier_all();
    if (me == n - 1) CHECK_EQUAL(of_world, 2 * n * ROUNDS);
    if (me == first) CHECK_EQUAL(of_shared, shared * ROUNDS);

    shmem_ctx_destroy(node);
    shmem_ctx_destroy(backward);
    shmem_ctx_destroy(straight);
    shmem_team_destroy(turned);
    shmem_finalize();
    return api_result();
}
