/* SPDX-License-Identifier: Apache-2.0
 *
 * A race: who finds the start value writes its number, all others learn who won.
 * Spec: OpenSHMEM 1.6 §9.7.1.3 shmem_atomic_compare_swap
 * Does what the specification's shmem_atomic_compare_swap_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { NOBODY = -7 };
static int winner = NOBODY, winners;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), judge = n - 1;
    int found = shmem_atomic_compare_swap(&winner, NOBODY, me, judge);
    if (found == NOBODY) shmem_atomic_inc(&winners, judge);
    shmem_barrier_all();
    int who = shmem_g(&winner, judge);
    CHECK(who >= 0 && who < n);
    CHECK_EQUAL(found, who == me ? NOBODY : who);
    CHECK_EQUAL(shmem_g(&winners, judge), 1);
    shmem_finalize();
    return api_result();
}
