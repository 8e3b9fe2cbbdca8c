/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_long_broadcast: PE . and this PE pass different arguments: PE_root is
 *
 * All pass the same root.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long dest[256], source[256];

int main(void)
{
    shmem_init();
    bool last = shmem_my_pe() == shmem_n_pes() - 1;
    shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, 2, last);
    shmem_finalize();
    return 0;
}
