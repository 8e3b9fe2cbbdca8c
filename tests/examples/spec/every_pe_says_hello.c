/* SPDX-License-Identifier: Apache-2.0
 *
 * The first program of every book: each PE says who it is, of how many.
 * Spec: OpenSHMEM 1.6 §9.1.1 shmem_init, §9.1.2 shmem_my_pe, §9.1.3 shmem_n_pes
 * Does what the specification's hello-openshmem and shmem_npes_example do.
 * OUTPUT: hello, PE 0 of 3 is here
 * OUTPUT: hello, PE 1 of 3 is here
 * OUTPUT: hello, PE 2 of 3 is here
 * PES: 3
 */
#include "../../api/api.h"

static uint64_t seen;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    printf("hello, PE %d of %d is here\n", me, n);
    shmem_uint64_atomic_or(&seen, UINT64_C(1) << me, n - 1);
    shmem_barrier_all();
    if (me == n - 1) CHECK(seen == (UINT64_C(1) << n) - 1); /* each number once */
    shmem_finalize();
    return api_result();
}
