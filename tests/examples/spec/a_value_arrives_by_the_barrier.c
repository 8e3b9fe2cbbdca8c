/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest program with a transfer: start, put one value into a static variable of one PE, barrier, look.
 * Spec: OpenSHMEM 1.6 §9.1.1 shmem_init, §9.6.1.1 shmem_put, §9.10.1 shmem_barrier_all
 * Does what the specification's shmem_init_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static int mailbox = -5;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), receiver = n - 1;
    if (me == 0) {
        int letter = 1789;
        shmem_put(&mailbox, &letter, 1, receiver);
    }
    shmem_barrier_all();
    CHECK_EQUAL(mailbox, me == receiver ? 1789 : -5);
    shmem_finalize();
    return api_result();
}
