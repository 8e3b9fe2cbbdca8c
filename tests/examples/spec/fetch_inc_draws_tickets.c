/* SPDX-License-Identifier: Apache-2.0
 *
 * A machine that gives out tickets: every number once, to somebody, without a gap.
 * Spec: OpenSHMEM 1.6 §9.7.1.5 shmem_atomic_fetch_inc
 * Does what the specification's shmem_atomic_fetch_inc_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { TICKETS = 25 };
static int next_ticket = 100, holders[8 * TICKETS];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), last = 0;
    for (int i = 0; i < TICKETS; i++) {
        int ticket = shmem_atomic_fetch_inc(&next_ticket, 1);
        CHECK(ticket > last); /* mine grow */
        last = ticket;
        shmem_int_atomic_inc(&holders[ticket - 100], 0);
    }
    shmem_barrier_all();
    CHECK_EQUAL(next_ticket, me == 1 ? 100 + n * TICKETS : 100);
    for (int i = 0; me == 0 && i < n * TICKETS; i++) CHECK_EQUAL(holders[i], 1);
    shmem_finalize();
    return api_result();
}
