/* SPDX-License-Identifier: Apache-2.0
 *
 * A linked list over all PEs: each swaps its number into the head and keeps what was there as its link. From the head one comes to
 * every PE once, and to the end.
 * Spec: OpenSHMEM 1.6 §9.7.1.4 shmem_atomic_swap
 * Does what the specification's shmem_atomic_swap_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { END = -1 };
static long head = END, link_to = END;

int main(void)
{
    shmem_init();
    long me = shmem_my_pe(), n = shmem_n_pes();
    link_to = shmem_atomic_swap(&head, me, 0);
    CHECK(link_to != me);
    shmem_barrier_all();
    if (me == 0) {
        uint64_t seen = 0;
        long     at   = head;
        for (long i = 0; i < n; i++) {
            if (!CHECK(at >= 0 && at < n)) break;
            seen |= UINT64_C(1) << at;
            at = shmem_g(&link_to, (int)at);
        }
        CHECK_EQUAL(at, END);
        CHECK(seen == (UINT64_C(1) << n) - 1);
    }
    shmem_finalize();
    return api_result();
}
