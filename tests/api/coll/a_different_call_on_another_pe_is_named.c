/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: PE . calls shmem_long_(fcollect|broadcast) where this PE calls shmem_long_(fcollect|broadcast)
 *
 * All PEs of a team make the same calls; where they do not, both are named.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long dest[256], source[256];

int main(void)
{
    shmem_init();
    bool last = shmem_my_pe() == shmem_n_pes() - 1;
    if (last) shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, 2);
    else shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, 0);
    shmem_finalize();
    return 0;
}
