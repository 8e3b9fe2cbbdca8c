/* SPDX-License-Identifier: Apache-2.0
 *
 * In checked mode a PE that calls another reduction than the others is named, with both calls, and nothing hangs.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.10.9 Reductions, §C Undefined Behavior
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: PE . calls shmem_int_m.._reduce where this PE calls shmem_int_m.._reduce
 * TIMEOUT: 60
 */
#include "../api.h"

static int dest[4], source[4];

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) shmem_int_max_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    else shmem_int_min_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    shmem_finalize();
    return 0;
}
