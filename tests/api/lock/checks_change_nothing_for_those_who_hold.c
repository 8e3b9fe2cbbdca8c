/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks in checked mode, where a PE remembers in its half of the word that it holds it: they exclude, are handed on in order, by set and by test, and are
 * all zero when they are free.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_set_lock
 * PES: 1 2 3
 * ENV: POSTERN_CHECK=1 POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

enum { ROUNDS = 50 };

static long lock, second, counter;

int main(void)
{
    shmem_init();
    int n = shmem_n_pes();
    for (int round = 0; round < ROUNDS; round++) {
        if (round % 3 == 0)
            while (shmem_test_lock(&lock)) continue;
        else shmem_set_lock(&lock);
        shmem_set_lock(&second); /* two at once */
        long seen = shmem_long_g(&counter, 0);
        shmem_long_p(&counter, seen + 1, 0);
        if (round % 2) shmem_clear_lock(&second);
        shmem_clear_lock(&lock);
        if (round % 2 == 0) shmem_clear_lock(&second);
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_long_g(&counter, 0), (long)ROUNDS * n);
    CHECK(lock == 0 && second == 0);
    shmem_finalize();
    return api_result();
}
