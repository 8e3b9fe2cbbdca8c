/* SPDX-License-Identifier: Apache-2.0
 *
 * One barrier after the other, each called by another thread of its PE, while a second thread waits for a word: a barrier
 * blocks its own thread only, and holds no lock that the waiting thread needs.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.10.1 shmem_barrier_all; pitfall: no lock of the library may be held while waiting
 * LINK: pthread
 */
#include "../api.h"

#include <pthread.h>

static long word;

static void *call_barrier(void *unused)
{
    for (int i = 0; i < 20; i++) shmem_barrier_all();
    return unused;
}

static void *wait_for_word(void *unused)
{
    shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
    return unused;
}

int main(void)
{
    int       level;
    pthread_t waiter, caller;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    CHECK_EQUAL(level, SHMEM_THREAD_MULTIPLE);
    CHECK_EQUAL(pthread_create(&waiter, NULL, wait_for_word, NULL), 0);
    for (int i = 0; i < 5; i++) {
        CHECK_EQUAL(pthread_create(&caller, NULL, call_barrier, NULL), 0);
        CHECK_EQUAL(pthread_join(caller, NULL), 0);
        call_barrier(NULL);
    }
    /* The word is set by an atomic of the PE to itself: the waiting thread must notice that too. */
    shmem_long_atomic_inc(&word, shmem_my_pe());
    CHECK_EQUAL(pthread_join(waiter, NULL), 0);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
