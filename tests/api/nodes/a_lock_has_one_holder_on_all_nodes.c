/* SPDX-License-Identifier: Apache-2.0
 *
 * PEs of all nodes take a lock in turn, by set_lock and by test_lock; what the holder has read and written, near or far, no other touches.
 * Spec: OpenSHMEM 1.6 §9.13 Distributed Locking Routines
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

enum { ROUNDS = 12 };

static long locks[2], counters[2], inside;

static void take(long *lock, int round)
{
    if (round % 3) shmem_set_lock(lock);
    else
        while (shmem_test_lock(lock)) continue;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int which = 0; which < 2; which++) {
        int home = which ? n - 1 : 0;
        for (int round = 0; round < ROUNDS; round++) {
            take(&locks[which], round);
            CHECK_EQUAL(shmem_long_atomic_fetch_inc(&inside, home), 0);
            shmem_long_p(&counters[which], shmem_long_g(&counters[which], home) + 1, home); /* done by clear_lock's quiet */
            CHECK_EQUAL(shmem_long_atomic_fetch_add(&inside, -1, home), 1);
            shmem_clear_lock(&locks[which]);
        }
        shmem_barrier_all();
        if (me == home) CHECK_EQUAL(counters[which], (long)ROUNDS * n);
    }
    shmem_finalize();
    return api_result();
}
