/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 5
 * ENV: POSTERN_CHECK=0
 *
 * Calls are compared only where all PEs check: one PE with POSTERN_CHECK=1 still meets the others.
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines
 */
#include "../api.h"

static int dest[64], source[64];

int main(void)
{
    const char *pe = getenv("POSTERN_PE");
    if (pe && atoi(pe) == 1) setenv("POSTERN_CHECK", "1", 1);
    shmem_init();
    int n = shmem_n_pes();
    for (int turn = 0; turn < 5; turn++) {
        source[0] = shmem_my_pe() + turn;
        CHECK_EQUAL(shmem_int_sum_reduce(SHMEM_TEAM_WORLD, dest, source, 1), 0);
        CHECK_EQUAL(dest[0], n * (n - 1) / 2 + n * turn);
        shmem_barrier_all();
        shmem_free(shmem_malloc(64));
    }
    shmem_finalize();
    return api_result();
}
