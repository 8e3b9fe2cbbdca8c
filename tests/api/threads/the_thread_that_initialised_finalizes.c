/* SPDX-License-Identifier: Apache-2.0
 *
 * SHMEM_THREAD_FUNNELED: one thread makes all calls, and it need not be the one that runs main. It initializes, works, ends a
 * nested init, and finalizes, while the main thread computes.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize, §9.2 Thread Support, §9.2.1 shmem_init_thread
 * PES: 1 2 3
 * LINK: pthread
 */
#include "../api.h"

#include <pthread.h>

static long       word;
static atomic_int over;

static void *all_calls(void *unused)
{
    int provided = -1, again = -1;
    CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided), 0);
    CHECK(provided >= SHMEM_THREAD_FUNNELED);
    CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_FUNNELED, &again), 0);
    CHECK_EQUAL(again, provided);
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&word, 1 + me, (me + 1) % n);
    shmem_finalize(); /* a barrier */
    CHECK_EQUAL(word, 1 + (me + n - 1) % n);
    long *block = shmem_malloc(sizeof *block);
    CHECK(block != NULL);
    shmem_long_wait_until(&word, SHMEM_CMP_NE, 0);
    shmem_free(block);
    shmem_finalize();
    atomic_store(&over, 1);
    return unused;
}

int main(void)
{
    pthread_t     thread;
    volatile long work = 0;
    if (pthread_create(&thread, NULL, all_calls, NULL) != 0) abort();
    while (!atomic_load(&over)) work = work + 1;
    pthread_join(thread, NULL);
    return api_result();
}
