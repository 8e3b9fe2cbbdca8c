/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE holds several locks and waits for others: neighbours on a ring of forks, each taking two in the order of their numbers,
 * all at once; then each PE holds all locks in turn, cleared in another order than taken.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_set_lock; pitfall: the state of the queue must live in each lock word
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

enum { ROUNDS = 40, LOCKS = 16 };

static long locks[LOCKS], users[LOCKS], meals;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), left = me % LOCKS, right = (me + 1) % LOCKS;
    int low = left < right ? left : right, high = left < right ? right : left;
    if (n > 1 && (me + 1) % n == 0) { /* close the ring */
        right = 0;
        low   = 0;
        high  = left;
    }
    shmem_barrier_all();
    for (int round = 0; round < ROUNDS; round++) {
        shmem_set_lock(&locks[low]);
        if (high != low) shmem_set_lock(&locks[high]);
        CHECK_EQUAL(shmem_long_atomic_fetch_inc(&users[left], 0), 0);
        CHECK_EQUAL(shmem_long_atomic_fetch_inc(&users[right], 0), left == right);
        shmem_long_atomic_inc(&meals, 0);
        shmem_long_atomic_add(&users[left], -1, 0);
        shmem_long_atomic_add(&users[right], -1, 0);
        shmem_clear_lock(&locks[low]);
        if (high != low) shmem_clear_lock(&locks[high]);
    }
    shmem_barrier_all();
    if (me == 0) CHECK_EQUAL(meals, (long)ROUNDS * n);
    for (int i = 0; i < LOCKS; i++) shmem_set_lock(&locks[i]);
    for (int i = 0; i < LOCKS; i++) CHECK_EQUAL(shmem_long_atomic_fetch_inc(&users[i], 0), 0);
    for (int i = 0; i < LOCKS; i++) shmem_long_atomic_add(&users[i], -1, 0);
    for (int i = 0; i < LOCKS; i += 2) shmem_clear_lock(&locks[i]);
    for (int i = LOCKS - 1; i > 0; i -= 2) shmem_clear_lock(&locks[i]);
    shmem_barrier_all();
    for (int i = 0; i < LOCKS; i++) CHECK_EQUAL(locks[i], 0);
    shmem_finalize();
    return api_result();
}
