/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 5
 * ENV: POSTERN_CHECK=0
 * OUTPUT: is not in the active set
 *
 * Old programs let all PEs call for an active set of some. Undefined by the standard; here it does nothing, and one PE says so.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §C Undefined Behavior
 */
#include "../api.h"

static long psync[3][SHMEM_SYNC_SIZE];
static int  dest[8], source[8], work[8 + SHMEM_REDUCE_MIN_WRKDATA_SIZE];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < SHMEM_SYNC_SIZE; k++) psync[i][k] = SHMEM_SYNC_VALUE;
    for (int i = 0; i < 8; i++) source[i] = me + 1;
    shmem_barrier_all();
    shmem_int_sum_to_all(dest, source, 8, 0, 0, n - 1, work, psync[0]);
    CHECK_EQUAL(dest[7], me < n - 1 ? n * (n - 1) / 2 : 0);
    shmem_barrier(0, 0, n - 1, psync[1]);
    shmem_fcollect32(dest, source, 1, 1, 0, n - 1, psync[2]);
    CHECK_EQUAL(dest[0], me > 0 ? 2 : n * (n - 1) / 2);
    shmem_barrier_all();
    for (int i = 0; i < 3; i++) CHECK_EQUAL(psync[i][0], SHMEM_SYNC_VALUE);
    shmem_finalize();
    return api_result();
}
