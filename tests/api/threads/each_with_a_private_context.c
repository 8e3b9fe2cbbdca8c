/* SPDX-License-Identifier: Apache-2.0
 *
 * LINK: pthread
 *
 * With SHMEM_CTX_PRIVATE every thread has its own context, makes, uses and destroys it; the main thread uses the default context and
 * barriers meanwhile. B21.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.5.1 shmem_ctx_create
 */
#include "../api.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 60, WORDS = 64 };
static long sums[THREADS], table[THREADS][WORDS], main_word;

static void *work(void *argument)
{
    int         id = (int)(intptr_t)argument, n = shmem_n_pes(), me = shmem_my_pe(), next = (me + 1) % n;
    long        mine[WORDS], back[WORDS];
    shmem_ctx_t ctx;
    if (!CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0)) return NULL;
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) mine[i] = round * 1000 + id * 100 + i + me;
        shmem_ctx_long_put_nbi(ctx, table[id], mine, WORDS, next);
        shmem_ctx_long_atomic_add(ctx, &sums[id], round, next);
        shmem_ctx_quiet(ctx);
        memset(back, 0, sizeof back);
        shmem_ctx_long_get(ctx, back, table[id], WORDS, next);
        if (!CHECK(memcmp(back, mine, sizeof back) == 0)) break;
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

int main(void)
{
    int       provided;
    pthread_t threads[THREADS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (intptr_t id = 0; id < THREADS; id++)
        if (pthread_create(&threads[id], NULL, work, (void *)id) != 0) abort();
    for (long round = 1; round <= 20; round++) {
        shmem_long_p(&main_word, round + me, (me + 1) % n);
        shmem_barrier_all();
        CHECK_EQUAL(main_word, round + (me + n - 1) % n);
        shmem_barrier_all();
    }
    for (int id = 0; id < THREADS; id++) pthread_join(threads[id], NULL);
    shmem_barrier_all();
    for (int id = 0; id < THREADS; id++) {
        CHECK_EQUAL(sums[id], ROUNDS * (ROUNDS + 1) / 2);
        for (int i = 0; i < WORDS; i++) CHECK_EQUAL(table[id][i], ROUNDS * 1000 + id * 100 + i + (me + n - 1) % n);
    }
    shmem_finalize();
    return api_result();
}
