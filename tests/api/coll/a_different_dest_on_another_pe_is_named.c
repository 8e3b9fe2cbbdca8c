/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_long_collect: PE . and this PE pass different arguments: dest is not the same symmetric object
 *
 * All pass the same dest, also where the numbers of elements may differ.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long dest[256], source[256], elsewhere[256];

int main(void)
{
    shmem_init();
    bool last = shmem_my_pe() == shmem_n_pes() - 1;
    shmem_long_collect(SHMEM_TEAM_WORLD, last ? elsewhere : dest, source, last ? 5 : 1);
    shmem_finalize();
    return 0;
}
