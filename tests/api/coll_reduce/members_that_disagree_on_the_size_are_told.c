/* SPDX-License-Identifier: Apache-2.0
 *
 * In checked mode a PE that passes another number of elements than the others is named, with both numbers, and nothing hangs.
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions, §C Undefined Behavior
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_int_max_reduce: PE . and this PE pass different arguments: the number.* . here.* . there
 * TIMEOUT: 60
 */
#include "../api.h"

static int dest[4], source[4];

int main(void)
{
    shmem_init();
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, dest, source, shmem_my_pe() == 0 ? 3 : 4);
    shmem_finalize();
    return 0;
}
