/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE casts votes for others by atomics, then a reduction reads the votes. Between them stands a barrier: it completes the
 * atomics, and a reduction reads its source without atomics.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.10.9.6 shmem_sum_reduce
 * Does what the specification's amo_scenario_3 warns about, in the way that is defined.
 * PES: 2 3
 */
#include "../../api/api.h"

static int votes, all_votes, most_votes;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int pe = 0; pe <= me; pe++) shmem_int_atomic_inc(&votes, pe); /* PE pe gets n - pe votes */
    shmem_barrier_all();
    CHECK_EQUAL(votes, n - me);
    CHECK_EQUAL(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &all_votes, &votes, 1), 0);
    CHECK_EQUAL(shmem_int_max_reduce(SHMEM_TEAM_WORLD, &most_votes, &votes, 1), 0);
    CHECK_EQUAL(all_votes, n * (n + 1) / 2);
    CHECK_EQUAL(most_votes, n);
    shmem_finalize();
    return api_result();
}
