/* SPDX-License-Identifier: Apache-2.0
 *
 * A finalize that does not match the first init acts as shmem_barrier_all. So nobody leaves it before the last PE has come,
 * and what was put before it is there.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize
 */
#include "../api.h"

#include <unistd.h>

static long flags[64];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int late = 0; late < n && late < 3; late++) {
        shmem_init();
        if (me == late) usleep(50000);
        for (int pe = 0; pe < n; pe++) shmem_long_p(&flags[me], late + 1, pe);
        shmem_finalize();
        for (int pe = 0; pe < n; pe++) CHECK_EQUAL(flags[pe], late + 1);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
