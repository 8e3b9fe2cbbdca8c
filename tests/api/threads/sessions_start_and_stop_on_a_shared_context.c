/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads start and stop sessions on the default context and on one that they share, while all of them put on both: nothing is lost.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.9.2 shmem_ctx_session_start, §9.9.3 shmem_ctx_session_stop
 * PES: 1 2
 * LINK: pthread
 */
#include "../api.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 60 };

static long        table[2][THREADS][ROUNDS];
static shmem_ctx_t shared;

static void *work(void *argument)
{
    const shmem_ctx_session_config_t config = {.total_ops = ROUNDS};
    int                              id = (int)(intptr_t)argument, next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int round = 0; round < ROUNDS; round++) {
        for (int which = 0; which < 2; which++) {
            shmem_ctx_t ctx = which ? shared : SHMEM_CTX_DEFAULT;
            if (round % 3 == id) shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
            shmem_ctx_long_p(ctx, &table[which][id][round], round + 1, next);
            if ((round + 1) % 3 == id) shmem_ctx_session_stop(ctx);
        }
    }
    return NULL;
}

int main(void)
{
    int       provided;
    pthread_t threads[THREADS];
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    CHECK_EQUAL(shmem_ctx_create(0, &shared), 0);
    for (intptr_t id = 0; id < THREADS; id++)
        if (pthread_create(&threads[id], NULL, work, (void *)id) != 0) abort();
    for (int id = 0; id < THREADS; id++) pthread_join(threads[id], NULL);
    shmem_ctx_quiet(shared);
    shmem_barrier_all();
    for (int which = 0; which < 2; which++)
        for (int id = 0; id < THREADS; id++)
            for (int round = 0; round < ROUNDS; round++) CHECK_EQUAL(table[which][id][round], round + 1);
    shmem_finalize();
    return api_result();
}
