/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 holds a lock. The main thread of every other PE waits for it, while a second thread works on, and it is these second
 * threads that make PE 0 clear it, by atomics. Meanwhile they set and clear another lock, and end a wait of PE 0's own second
 * thread.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.13.1 shmem_set_lock
 * PES: 2 3
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 25 };

static long        lock, other[8], told, wanted, guarded;
static atomic_long round_of_main;

static void *second(void *unused)
{
    int me = shmem_my_pe();
    for (long round = 1; round <= ROUNDS; round++) {
        while (atomic_load(&round_of_main) < round) sched_yield();
        shmem_set_lock(&other[me]);
        shmem_long_atomic_inc(&wanted, 0);
        shmem_clear_lock(&other[me]);
        shmem_long_atomic_inc(&told, 0);
    }
    return unused;
}

/* PE 0's second thread waits for what the others' second threads do, while its main thread holds the lock. */
static void *watcher(void *unused)
{
    shmem_long_wait_until(&wanted, SHMEM_CMP_GE, (long)ROUNDS * (shmem_n_pes() - 1));
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (pthread_create(&thread, NULL, me == 0 ? watcher : second, NULL) != 0) abort();
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == 0) shmem_set_lock(&lock);
        shmem_barrier_all();
        if (me == 0) {
            shmem_long_wait_until(&told, SHMEM_CMP_GE, round * (n - 1));
        } else {
            atomic_store(&round_of_main, round);
            shmem_set_lock(&lock);
        }
        shmem_long_p(&guarded, shmem_long_g(&guarded, 0) + 1, 0);
        shmem_clear_lock(&lock);
        shmem_barrier_all();
        CHECK_EQUAL(shmem_long_g(&guarded, 0), round * n);
        shmem_barrier_all();
    }
    pthread_join(thread, NULL);
    shmem_finalize();
    return api_result();
}
