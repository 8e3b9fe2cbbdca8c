/* SPDX-License-Identifier: Apache-2.0
 *
 * Between set_lock and clear_lock a PE is alone: a counter that is read and written without atomics by all PEs loses nothing.
 * Static locks and locks on the heap, taken by set_lock and by test_lock; the next holder reads the last one's updates, also
 * those at a third PE.
 * Spec: OpenSHMEM 1.6 §9.13 Distributed Locking Routines, §9.13.1 shmem_set_lock, shmem_test_lock
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

enum { ROUNDS = 60 };

static long lock, counter, inside, copies[3];

static void take(long *which, int round)
{
    if (round % 3 == 0) {
        while (shmem_test_lock(which)) continue;
    } else {
        shmem_set_lock(which);
    }
}

static void work(long *which, int home, int n)
{
    for (int round = 0; round < ROUNDS; round++) {
        take(which, round);
        CHECK_EQUAL(shmem_long_atomic_fetch_inc(&inside, home), 0);
        long seen = shmem_long_g(&counter, home);
        for (int k = 0; k < 3; k++) CHECK_EQUAL(shmem_long_g(&copies[k], k % n), seen);
        shmem_long_p(&counter, seen + 1, home);
        /* On all three; completed by clear_lock's quiet. */
        for (int k = 0; k < 3; k++) shmem_long_p(&copies[k], seen + 1, k % n);
        CHECK_EQUAL(shmem_long_atomic_fetch_add(&inside, -1, home), 1);
        shmem_clear_lock(which);
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_long_g(&counter, home), (long)ROUNDS * n);
    shmem_barrier_all();
    if (shmem_my_pe() == home) counter = 0;
    memset(copies, 0, sizeof copies);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    int   n    = shmem_n_pes();
    long *heap = shmem_calloc(5, sizeof *heap);
    if (!CHECK(heap != NULL)) shmem_global_exit(1);
    work(&lock, n - 1, n);
    work(&heap[1], 0, n);
    work(&heap[2], 0, n);
    CHECK_EQUAL(lock | heap[0] | heap[1] | heap[2] | heap[3], 0); /* free again, and nothing beside touched */
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
