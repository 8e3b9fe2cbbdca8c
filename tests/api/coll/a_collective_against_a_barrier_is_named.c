/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_barrier_all
 *
 * A PE that synchronizes while others exchange data is told so.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long dest[256], source[256];

int main(void)
{
    shmem_init();
    bool last = shmem_my_pe() == shmem_n_pes() - 1;
    if (last) shmem_barrier_all();
    else shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, 1);
    shmem_finalize();
    return 0;
}
