/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of one PE wait for different locks and words at the same time, and go on when their own is there: a thread that
 * waits blocks nobody else.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.13.1 shmem_set_lock
 * LINK: pthread
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 25 };

static long locks[THREADS], counters[THREADS], words[THREADS], first_word;

static void *use_lock(void *argument)
{
    int which = *(int *)argument;
    shmem_long_wait_until(&words[which], SHMEM_CMP_EQ, 1);
    for (int round = 0; round < ROUNDS; round++) {
        shmem_set_lock(&locks[which]);
        long seen = shmem_long_g(&counters[which], 0);
        shmem_long_p(&counters[which], seen + 1, 0);
        shmem_clear_lock(&locks[which]);
    }
    return NULL;
}

static void *wait_first(void *unused)
{
    shmem_long_wait_until(&first_word, SHMEM_CMP_EQ, 1);
    for (int i = 0; i < THREADS; i++) shmem_long_atomic_set(&words[i], 1, shmem_my_pe());
    return unused;
}

int main(void)
{
    int       level, which[THREADS];
    pthread_t threads[THREADS], first;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    if (level < SHMEM_THREAD_MULTIPLE) api_skip("no thread level MULTIPLE");
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_barrier_all();
    CHECK_EQUAL(pthread_create(&first, NULL, wait_first, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        which[i] = i;
        CHECK_EQUAL(pthread_create(&threads[i], NULL, use_lock, &which[i]), 0);
    }
    shmem_long_p(&first_word, 1, next);
    shmem_quiet();
    CHECK_EQUAL(pthread_join(first, NULL), 0);
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    shmem_barrier_all();
    if (me == 0)
        for (int i = 0; i < THREADS; i++) CHECK_EQUAL(counters[i], (long)ROUNDS * n);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
