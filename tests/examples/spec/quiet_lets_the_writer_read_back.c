/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 puts to two others, completes that by a quiet, and gets back from there what it has put.
 * Spec: OpenSHMEM 1.6 §9.12.2 shmem_quiet, §9.6.1.5 shmem_get
 * Does what the specification's shmem_quiet_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

static long record[5];
static int  total;

int main(void)
{
    shmem_init();
    int  me = shmem_my_pe(), n = shmem_n_pes(), last = n - 1;
    long mine[5] = {2, 3, 5, 7, 11}, back[5] = {0};
    int  sum = 28, sum_back = 0;
    if (me == 0) {
        shmem_put_nbi(record, mine, 5, 1);
        shmem_put_nbi(&total, &sum, 1, last);
        shmem_quiet();
        shmem_get(back, record, 5, 1);
        shmem_get(&sum_back, &total, 1, last);
        for (int i = 0; i < 5; i++) CHECK_EQUAL(back[i], mine[i]);
        CHECK_EQUAL(sum_back, 28);
        sum = 29; /* the source is free since the quiet */
        shmem_put(&total, &sum, 1, last);
    }
    shmem_barrier_all();
    CHECK_EQUAL(total, me == last ? 29 : 0);
    CHECK_EQUAL(record[4], me == 1 ? 11 : 0);
    shmem_finalize();
    return api_result();
}
