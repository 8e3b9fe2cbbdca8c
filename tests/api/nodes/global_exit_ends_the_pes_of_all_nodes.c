/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_global_exit of a PE ends PEs of its node and of others, whatever they wait for, and gives its status.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 * NODES: a,b a:2,b
 * PES: 2 5
 * STATUS: 7
 */
#include "nodes.h"

static long never, lock;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (me == 0) shmem_set_lock(&lock);
    shmem_barrier_all();
    if (me == n - 1) shmem_global_exit(7);
    if (me % 3 == 0) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    else if (me % 3 == 1) shmem_set_lock(&lock);
    else shmem_barrier_all();
    return 9;
}
