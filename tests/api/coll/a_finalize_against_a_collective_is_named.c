/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 5
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: PE . calls shmem_(finalize|int_max_reduce) where this PE calls shmem_(finalize|int_max_reduce)
 *
 * One PE leaves out a collective and finalizes: the others do not wait for it for ever.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.1.4 shmem_finalize
 */
#include "../api.h"

static int dest[4], source[4];

int main(void)
{
    shmem_init();
    if (shmem_my_pe() != shmem_n_pes() - 1) shmem_int_max_reduce(SHMEM_TEAM_WORLD, dest, source, 4);
    shmem_finalize();
    return 0;
}
