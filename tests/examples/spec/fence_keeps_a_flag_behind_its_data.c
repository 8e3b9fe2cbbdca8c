/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 writes data and then a flag to two PEs, with one fence between: who sees the flag has the data.
 * Spec: OpenSHMEM 1.6 §9.12.1 shmem_fence, §9.11.1 shmem_wait_until
 * Does what the specification's shmem_fence_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { COUNT = 1000, ROUNDS = 20 };
static long data[COUNT];
static int  flag;

int main(void)
{
    shmem_init();
    int  me = shmem_my_pe(), n = shmem_n_pes();
    long mine[COUNT];
    for (int round = 1; round <= ROUNDS; round++) {
        if (me == 0) {
            for (int i = 0; i < COUNT; i++) mine[i] = round * 10000L + i;
            for (int pe = 1; pe < n; pe++) shmem_put(data, mine, COUNT, pe);
            shmem_fence();
            for (int pe = 1; pe < n; pe++) shmem_put(&flag, &round, 1, pe);
        } else {
            shmem_wait_until(&flag, SHMEM_CMP_EQ, round);
            for (int i = 0; i < COUNT; i++) {
                if (!CHECK_EQUAL(data[i], round * 10000L + i)) break;
            }
        }
        shmem_barrier_all(); /* data is written again */
    }
    shmem_finalize();
    return api_result();
}
