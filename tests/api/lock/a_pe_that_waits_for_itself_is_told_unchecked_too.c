/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE that sets a lock which it holds waits for nobody but itself: that is told without checks too.
 * Spec: OpenSHMEM 1.6 §E, §9.13.1 shmem_set_lock (not re-entrant)
 * PES: 1 2
 * ENV: POSTERN_CHECK=0
 * STATUS: 1
 * TIMEOUT: 30
 * OUTPUT: shmem_set_lock: this PE has the lock at .* already
 */
#include "../api.h"

static long lock;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        shmem_set_lock(&lock);
        shmem_set_lock(&lock);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
