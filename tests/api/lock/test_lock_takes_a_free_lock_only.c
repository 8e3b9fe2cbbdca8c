/* SPDX-License-Identifier: Apache-2.0
 *
 * test_lock is 0 and takes a free lock, is 1 and takes nothing where it is held, by whomever; it never waits.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_test_lock
 */
#include "../api.h"

static long lock;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int holder = 0; holder < n; holder++) {
        shmem_barrier_all();
        if (me == holder) CHECK_EQUAL(shmem_test_lock(&lock), 0);
        shmem_barrier_all();
        if (me != holder) CHECK_EQUAL(shmem_test_lock(&lock), 1);
        shmem_barrier_all();
        if (me == holder) shmem_clear_lock(&lock);
        shmem_barrier_all();
        if (me == (holder + 1) % n) {
            CHECK_EQUAL(shmem_test_lock(&lock), 0);
            shmem_clear_lock(&lock);
            shmem_set_lock(&lock);
            shmem_clear_lock(&lock);
        }
    }
    shmem_barrier_all();
    CHECK_EQUAL(lock, 0);
    shmem_finalize();
    return api_result();
}
