/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread puts, fences and calls quiet without a pause, on the default context or on one of its own, until a word of its own
 * PE changes; another thread of that PE changes it by an atomic, after waits, atomics and gets that all have to come through
 * beside the quiets.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.12.2 shmem_quiet
 * PES: 1 2
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>

enum { COUNT = 2000, STEPS = 100 };

static long        table[2][COUNT], end, step_word;
static shmem_ctx_t shared;

static void *quieter(void *argument)
{
    int         id = (int)(intptr_t)argument, next = (shmem_my_pe() + 1) % shmem_n_pes();
    static long sources[2][COUNT];
    shmem_ctx_t ctx    = id ? shared : SHMEM_CTX_DEFAULT;
    long        rounds = 0;
    do {
        for (int i = 0; i < COUNT; i++) sources[id][i] = rounds + i;
        shmem_ctx_long_put_nbi(ctx, table[id], sources[id], COUNT, next);
        shmem_ctx_fence(ctx);
        shmem_ctx_quiet(ctx);
        rounds++;
    } while (!shmem_long_test(&end, SHMEM_CMP_EQ, 1));
    CHECK_EQUAL(shmem_long_g(&table[id][COUNT - 1], next), rounds - 1 + COUNT - 1);
    return NULL;
}

int main(void)
{
    int       provided;
    pthread_t threads[2];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    CHECK_EQUAL(shmem_ctx_create(0, &shared), 0);
    shmem_barrier_all();
    for (intptr_t id = 0; id < 2; id++)
        if (pthread_create(&threads[id], NULL, quieter, (void *)id) != 0) abort();
    for (long step = 1; step <= STEPS; step++) {
        shmem_long_atomic_set(&step_word, step, next);
        shmem_long_wait_until(&step_word, SHMEM_CMP_GE, step);
        shmem_quiet();
        CHECK(shmem_long_g(&step_word, next) >= step);
    }
    shmem_long_atomic_set(&end, 1, me);
    for (int id = 0; id < 2; id++) pthread_join(threads[id], NULL);
    shmem_ctx_destroy(shared);
    shmem_finalize();
    return api_result();
}
