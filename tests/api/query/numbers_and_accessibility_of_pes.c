/* SPDX-License-Identifier: Apache-2.0
 *
 * 0 <= my_pe < n_pes; exactly 1 for every PE, exactly 0 for numbers that no PE has.
 * Spec: OpenSHMEM 1.6 §9.1.2 shmem_my_pe, §9.1.3 shmem_n_pes, §9.1.7 shmem_pe_accessible
 */
#include "../api.h"

static int seen[64];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    CHECK(me >= 0 && me < n);
    for (int pe = 0; pe < n; pe++) {
        CHECK_EQUAL(shmem_pe_accessible(pe), 1);
        shmem_int_atomic_inc(&seen[me], pe);
    }
    CHECK_EQUAL(shmem_pe_accessible(-1), 0);
    CHECK_EQUAL(shmem_pe_accessible(n), 0);
    CHECK_EQUAL(shmem_pe_accessible(INT32_MAX), 0);
    CHECK_EQUAL(shmem_pe_accessible(INT32_MIN), 0);
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) CHECK_EQUAL(seen[pe], 1); /* every number once */
    CHECK_EQUAL(shmem_my_pe(), me);
    shmem_finalize();
    return api_result();
}
