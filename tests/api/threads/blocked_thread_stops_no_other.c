/* SPDX-License-Identifier: Apache-2.0
 *
 * LINK: pthread
 *
 * A blocking call blocks its own thread only. One thread waits for a word in a loop; the main thread makes all kinds
 * of calls, and at last the one that the other waits for. B51.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.11.1 shmem_wait_until
 */
#include "../api.h"

#include <pthread.h>

enum { ROUNDS = 50 };
static long word, data[64];

static void *wait_for_rounds(void *unused)
{
    for (long round = 1; round <= ROUNDS; round++) shmem_long_wait_until(&word, SHMEM_CMP_GE, round);
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    CHECK_EQUAL(provided, SHMEM_THREAD_MULTIPLE);
    if (pthread_create(&thread, NULL, wait_for_rounds, NULL) != 0) abort();
    for (long round = 1; round <= ROUNDS; round++) {
        long value = round + me;
        shmem_long_put(data, &value, 1, next);
        shmem_barrier_all();
        CHECK_EQUAL(data[0], round + (me + n - 1) % n);
        CHECK_EQUAL(shmem_long_g(data, next), round + me);
        if (round % 10 == 0) {
            void *block = shmem_malloc(1000);
            CHECK(block != NULL);
            shmem_free(block);
        }
        shmem_quiet();
        shmem_sync_all();
        shmem_long_atomic_set(&word, round, me); /* an operation towards oneself is what ends the other's wait */
    }
    pthread_join(thread, NULL);
    shmem_finalize();
    return api_result();
}
