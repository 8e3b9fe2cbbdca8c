/* SPDX-License-Identifier: Apache-2.0
 *
 * One number of type double, by value, arrives to the last bit.
 * Spec: OpenSHMEM 1.6 §9.6.1.2 shmem_p
 * Does what the specification's shmem_p_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static double light = 1.0;

int main(void)
{
    shmem_init();
    int          me = shmem_my_pe(), n = shmem_n_pes();
    const double speed = 299792.458, step = 0.1;
    shmem_p(&light, speed + step * me, (me + 1) % n);
    shmem_barrier_all();
    double wanted = speed + step * ((me + n - 1) % n);
    CHECK(memcmp(&light, &wanted, sizeof light) == 0);
    shmem_finalize();
    return api_result();
}
