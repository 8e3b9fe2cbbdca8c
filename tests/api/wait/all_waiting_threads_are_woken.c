/* SPDX-License-Identifier: Apache-2.0
 *
 * Many threads of one PE sleep on words of their own, far apart; each goes on when its word is set, in whatever order the words
 * are set, and the others sleep on.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.11 Point-To-Point Synchronization Routines
 * PES: 1 2 3
 * LINK: pthread
 */
#include "cpu.h"

#include <pthread.h>

enum { THREADS = 12, ROUNDS = 20, APART = 1000 };

static long words[THREADS * APART], done;

static void *sleeper(void *argument)
{
    long which = *(int *)argument;
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_long_wait_until(&words[which * APART], SHMEM_CMP_EQ, round);
        shmem_long_atomic_inc(&done, shmem_my_pe());
    }
    return NULL;
}

int main(void)
{
    int       level, which[THREADS];
    pthread_t threads[THREADS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    if (level < SHMEM_THREAD_MULTIPLE) api_skip("no thread level MULTIPLE");
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_barrier_all();
    for (int i = 0; i < THREADS; i++) {
        which[i] = i;
        CHECK_EQUAL(pthread_create(&threads[i], NULL, sleeper, &which[i]), 0);
    }
    for (long round = 1; round <= ROUNDS; round++) {
        if (round % 4 == 0) sleep_ms(3);
        for (int i = 0; i < THREADS; i++) shmem_long_p(&words[(i * 5 + round) % THREADS * APART], round, next);
        shmem_quiet();
        shmem_long_wait_until(&done, SHMEM_CMP_GE, round * THREADS);
        shmem_barrier_all();
    }
    for (int i = 0; i < THREADS; i++) CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
