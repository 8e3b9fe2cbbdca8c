/* SPDX-License-Identifier: Apache-2.0
 *
 * A word that others update by atomics is updated and read by its owner with atomics too, while they are at it.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.7.1.6 shmem_atomic_inc, §9.7.1.1 shmem_atomic_fetch
 * Does what the specification's amo_scenario_4 warns about, in the way that is defined.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { ROUNDS = 400 };
static int level;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < ROUNDS; i++) {
        shmem_atomic_inc(&level, 0); /* PE 0 too: no level++ */
        if (me == 0) {
            shmem_quiet(); /* mine so far are in it */
            int now = shmem_atomic_fetch(&level, 0);
            CHECK(now > i && now <= n * ROUNDS);
        }
    }
    shmem_barrier_all();
    CHECK_EQUAL(level, me == 0 ? n * ROUNDS : 0);
    shmem_finalize();
    return api_result();
}
