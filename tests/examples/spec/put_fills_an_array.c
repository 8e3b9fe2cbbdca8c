/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 puts a local array into a static one of PE 1; nobody else's changes.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put
 * Does what the specification's shmem_put_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static long months[12];

int main(void)
{
    shmem_init();
    const long days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int        me       = shmem_my_pe();
    if (me == 0) shmem_put(months, days, 12, 1);
    shmem_barrier_all();
    for (int i = 0; i < 12; i++) CHECK_EQUAL(months[i], me == 1 ? days[i] : 0);
    shmem_finalize();
    return api_result();
}
