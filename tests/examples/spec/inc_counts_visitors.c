/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE visits every PE with a higher number; each counts its visitors.
 * Spec: OpenSHMEM 1.6 §9.7.1.6 shmem_atomic_inc
 * Does what the specification's shmem_atomic_inc_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static int visitors = 74000;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int pe = me + 1; pe < n; pe++) shmem_atomic_inc(&visitors, pe);
    shmem_barrier_all();
    CHECK_EQUAL(visitors, 74000 + me);
    shmem_finalize();
    return api_result();
}
