/* SPDX-License-Identifier: Apache-2.0
 *
 * Under a lock each PE reads a block at a third PE, finds it whole, and leaves the next value by nonblocking puts that only
 * clear_lock's quiet completes.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_clear_lock
 */
#include "../api.h"

enum { ROUNDS = 25, COUNT = 6000 };

static long lock, block[COUNT];

int main(void)
{
    static long seen[COUNT], next[COUNT];
    shmem_init();
    int n = shmem_n_pes(), home = n - 1;
    shmem_barrier_all();
    for (int round = 0; round < ROUNDS; round++) {
        shmem_set_lock(&lock);
        shmem_long_get(seen, block, COUNT, home);
        for (int i = 0; i < COUNT; i++)
            if (!CHECK_EQUAL(seen[i], seen[0])) break;
        for (int i = 0; i < COUNT; i++) next[i] = seen[0] + 1;
        shmem_long_put_nbi(block, next, COUNT, home);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_long_g(block, home), (long)ROUNDS * n);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
