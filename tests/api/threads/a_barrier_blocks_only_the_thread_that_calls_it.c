/* SPDX-License-Identifier: Apache-2.0
 *
 * The main thread of every PE but the last is in barrier_all, or in sync_all; the last PE comes only when second threads of all
 * others have told it to, by atomics, puts and fetches on the default context. Were they stopped by their blocked main threads,
 * nobody would ever leave.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.10.1 shmem_barrier_all, §9.10.4 shmem_sync_all
 * PES: 2 3
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>
#include <sched.h>

enum { ROUNDS = 40 };

static long        told, words[8], own;
static atomic_long round_of_main;

/* Calls of all kinds while the main thread waits, the last of which lets it go. */
static void *second(void *unused)
{
    int me = shmem_my_pe(), last = shmem_n_pes() - 1;
    for (long round = 1; round <= ROUNDS; round++) {
        while (atomic_load(&round_of_main) < round) sched_yield();
        shmem_long_p(&words[me], round, last);
        shmem_quiet();
        CHECK_EQUAL(shmem_long_g(&words[me], last), round);
        shmem_long_atomic_set(&own, round, me);
        shmem_long_wait_until(&own, SHMEM_CMP_EQ, round);
        shmem_fence();
        shmem_long_atomic_inc(&told, last);
    }
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (me < n - 1 && pthread_create(&thread, NULL, second, NULL) != 0) abort();
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == n - 1) shmem_long_wait_until(&told, SHMEM_CMP_GE, round * (n - 1));
        atomic_store(&round_of_main, round);
        if (round % 2) shmem_barrier_all();
        else shmem_sync_all();
    }
    if (me < n - 1) pthread_join(thread, NULL);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
