/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: PE . calls shmem_(long_collect|collectmem) where this PE calls shmem_(long_collect|collectmem)
 *
 * The same call in another type is another call.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long dest[256], source[256];

int main(void)
{
    shmem_init();
    bool last = shmem_my_pe() == shmem_n_pes() - 1;
    if (last) shmem_collectmem(SHMEM_TEAM_WORLD, dest, source, 16);
    else shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, 2);
    shmem_finalize();
    return 0;
}
