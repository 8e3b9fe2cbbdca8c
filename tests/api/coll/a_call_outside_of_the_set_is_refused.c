/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_barrier: PE 0 is not in the active set .PE_start 1
 *
 * In checked mode a PE that is not in the active set may not call for it.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long psync[SHMEM_SYNC_SIZE];

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    shmem_barrier(1, 0, shmem_n_pes() - 1, psync);
    shmem_finalize();
    return 0;
}
