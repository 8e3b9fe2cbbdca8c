/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE pays into an account of PE 0; one of them pays twice.
 * Spec: OpenSHMEM 1.6 §9.7.1.8 shmem_atomic_add
 * Does what the specification's shmem_atomic_add_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static int account = 250;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_atomic_add(&account, 10 * (me + 1), 0);
    if (me == n - 1) shmem_atomic_add(&account, -40, 0);
    shmem_barrier_all();
    CHECK_EQUAL(account, me == 0 ? 250 + 10 * (n * (n + 1) / 2) - 40 : 250);
    shmem_finalize();
    return api_result();
}
