/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: pass different arguments: the number of bytes of one PE is (16 here and 24|24 here and 16) there
 *
 * In fcollect all give as much.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long dest[256], source[256];

int main(void)
{
    shmem_init();
    bool last = shmem_my_pe() == shmem_n_pes() - 1;
    shmem_long_fcollect(SHMEM_TEAM_WORLD, dest, source, last ? 3 : 2);
    shmem_finalize();
    return 0;
}
