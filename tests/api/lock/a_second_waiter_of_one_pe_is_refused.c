/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: PE 0 holds a lock, a thread of PE 1 waits for it, and a second thread of PE 1 asks for it too: a PE has one place in the queue.
 * Spec: OpenSHMEM 1.6 §E, §9.13.1 shmem_set_lock (not re-entrant, nor for the threads of a PE)
 * PES: 2
 * ENV: POSTERN_CHECK=1
 * LINK: pthread
 * STATUS: 1
 * TIMEOUT: 30
 * OUTPUT: PE 1: shmem_(set|test)_lock: (another thread of this PE waits for|this PE has) the lock at
 */
#include "../api.h"

#include <pthread.h>
#include <sched.h>

static long lock;

static void *wait_for_lock(void *unused)
{
    shmem_set_lock(&lock);
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    if (shmem_my_pe() == 0) shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        if (pthread_create(&thread, NULL, wait_for_lock, NULL) != 0) abort();
        while (shmem_test_lock(&lock)) sched_yield(); /* until the thread has come to wait: then it is an error */
    }
    shmem_barrier_all(); /* PE 0 does not clear it */
    shmem_finalize();
    return 0;
}
