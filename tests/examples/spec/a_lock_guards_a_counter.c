/* SPDX-License-Identifier: Apache-2.0
 *
 * A counter on PE 0 that is read, changed and written back in three steps: a lock keeps the steps of one PE together.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_set_lock, shmem_clear_lock
 * Does what the specification's shmem_lock_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { ROUNDS = 30 };
static long gate;
static int  count;

int main(void)
{
    shmem_init();
    int n = shmem_n_pes();
    for (int i = 0; i < ROUNDS; i++) {
        shmem_set_lock(&gate);
        int value = shmem_g(&count, 0);
        shmem_p(&count, value + 3, 0);
        shmem_clear_lock(&gate); /* completes the store first */
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_g(&count, 0), 3 * ROUNDS * n);
    shmem_finalize();
    return api_result();
}
