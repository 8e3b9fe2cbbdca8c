/* SPDX-License-Identifier: Apache-2.0
 *
 * The last PE gives an array to all, itself included; the source of the others is not read.
 * Spec: OpenSHMEM 1.6 §9.10.7 shmem_broadcast
 * Does what the specification's shmem_broadcast_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static long source[6], dest[6];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), root = n - 1;
    for (int i = 0; i < 6; i++) source[i] = me == root ? 1L << (5 * i) : -1;
    CHECK_EQUAL(shmem_broadcast(SHMEM_TEAM_WORLD, dest, source, 6, root), 0);
    for (int i = 0; i < 6; i++) CHECK_EQUAL(dest[i], 1L << (5 * i));
    shmem_finalize();
    return api_result();
}
