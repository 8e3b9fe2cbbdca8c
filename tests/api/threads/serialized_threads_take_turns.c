/* SPDX-License-Identifier: Apache-2.0
 *
 * LINK: pthread
 *
 * SHMEM_THREAD_SERIALIZED: any thread, never two at once; also a SERIALIZED context that wanders from thread to thread, and heap calls and
 * barriers of other threads than the one that initialized.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support
 */
#include "../api.h"

#include <pthread.h>

enum { TURNS = 6 };
static long        words[TURNS];
static shmem_ctx_t ctx;

static void *turn(void *argument)
{
    long  i  = (long)(intptr_t)argument;
    int   me = shmem_my_pe(), n = shmem_n_pes();
    long *block = shmem_malloc(sizeof *block);
    shmem_ctx_long_p(ctx, &words[i], 100 * i + me, (me + 1) % n);
    shmem_ctx_quiet(ctx);
    if (CHECK(block != NULL)) shmem_long_p(block, i, (me + 1) % n);
    shmem_barrier_all();
    CHECK_EQUAL(words[i], 100 * i + (me + n - 1) % n);
    if (block) CHECK_EQUAL(*block, i);
    shmem_free(block);
    return NULL;
}

int main(void)
{
    int provided;
    CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided), 0);
    CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_SERIALIZED, &ctx), 0);
    for (intptr_t i = 0; i < TURNS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, turn, (void *)i) != 0) abort();
        pthread_join(thread, NULL);
    }
    shmem_finalize();
    return api_result();
}
