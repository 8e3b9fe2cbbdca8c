/* SPDX-License-Identifier: Apache-2.0
 *
 * LINK: pthread
 *
 * SHMEM_THREAD_MULTIPLE: operations belong to the PE, so several threads may use the default context, and one shareable context, at once. A quiet
 * after they are done completes the operations of all of them.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.12.2 shmem_quiet
 */
#include "../api.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 100 };
static long        sum, slots[THREADS][ROUNDS], context_slots[THREADS][ROUNDS], source[THREADS][ROUNDS];
static shmem_ctx_t ctx;

static void *work(void *argument)
{
    int id = (int)(intptr_t)argument, next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int i = 0; i < ROUNDS; i++) {
        source[id][i] = 1 + i + id * ROUNDS + 10000 * shmem_my_pe();
        shmem_long_put_nbi(&slots[id][i], &source[id][i], 1, next);
        shmem_ctx_long_put_nbi(ctx, &context_slots[id][i], &source[id][i], 1, next);
        shmem_long_atomic_inc(&sum, next);
        if (i % 16 == 0) shmem_fence();
        if (i % 32 == 0) shmem_quiet();
    }
    return NULL;
}

int main(void)
{
    int       provided;
    pthread_t threads[THREADS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
    int from = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    for (intptr_t id = 0; id < THREADS; id++)
        if (pthread_create(&threads[id], NULL, work, (void *)id) != 0) abort();
    for (int id = 0; id < THREADS; id++) pthread_join(threads[id], NULL);
    shmem_quiet();
    shmem_ctx_quiet(ctx);
    shmem_sync_all();
    CHECK_EQUAL(sum, THREADS * ROUNDS);
    for (int id = 0; id < THREADS; id++)
        for (int i = 0; i < ROUNDS; i++) {
            CHECK_EQUAL(slots[id][i], 1 + i + id * ROUNDS + 10000 * from);
            CHECK_EQUAL(context_slots[id][i], 1 + i + id * ROUNDS + 10000 * from);
        }
    shmem_sync_all();
    shmem_finalize();
    return api_result();
}
