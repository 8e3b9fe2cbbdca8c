/* SPDX-License-Identifier: Apache-2.0
 *
 * The last PE clears a lock that all have held and given back; the others wait in a barrier, and end with it.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_clear_lock
 * PES: 1 2 3 4
 * STATUS: 1
 * TIMEOUT: 30
 * OUTPUT: shmem_clear_lock: the lock is not held
 * NOOUTPUT: came back
 */
#include "../api.h"

static long lock;

int main(void)
{
    shmem_init();
    shmem_set_lock(&lock);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        shmem_clear_lock(&lock);
        puts("shmem_clear_lock came back");
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
