/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 reads one number from every other PE.
 * Spec: OpenSHMEM 1.6 §9.6.1.6 shmem_g
 * Does what the specification's shmem_g_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static long height;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    height = 1000 + 11 * me;
    shmem_sync_all();
    if (me == 0) {
        for (int pe = n - 1; pe >= 0; pe--) CHECK_EQUAL(shmem_g(&height, pe), 1000 + 11 * pe);
    }
    shmem_finalize();
    return api_result();
}
