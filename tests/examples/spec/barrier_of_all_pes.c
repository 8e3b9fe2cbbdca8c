/* SPDX-License-Identifier: Apache-2.0
 *
 * A number goes one PE further in every round; after the barrier it is there.
 * Spec: OpenSHMEM 1.6 §9.10.1 shmem_barrier_all
 * Does what the specification's shmem_barrierall_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static int baton[2];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    baton[0] = 60 + me;
    shmem_barrier_all();
    for (int round = 1; round <= 3 * n; round++) {
        shmem_p(&baton[round % 2], baton[(round - 1) % 2], (me + 1) % n);
        shmem_barrier_all();
        CHECK_EQUAL(baton[round % 2], 60 + ((me - round) % n + n) % n);
    }
    shmem_finalize();
    return api_result();
}
