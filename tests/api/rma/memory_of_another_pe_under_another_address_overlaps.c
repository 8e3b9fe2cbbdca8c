/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: PE 0 puts to PE 1 what it reads through shmem_ptr from the same place: two addresses, one memory.
 * Spec: OpenSHMEM 1.6 §3 Memory Model (arguments must not overlap), §9.1.9 shmem_ptr
 * PES: 2
 * ENV: POSTERN_CHECK=1
 * NOCHAOS: shmem_ptr is NULL there
 * STATUS: 1
 * OUTPUT: shmem_long_put: dest and source overlap
 * OUTPUT: of PE 1
 */
#include "../api.h"

static long array[100];

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        long *there = shmem_ptr(array, 1);
        if (there) shmem_long_put(array + 98, there + 97, 2, 1);
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
