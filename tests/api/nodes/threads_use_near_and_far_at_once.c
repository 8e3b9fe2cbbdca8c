/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of one PE, each with a context of its own, of which one talks to near PEs and one to far PEs, while a third waits: none of them
 * holds up another, and each gets its own data.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.5 Communication Management Routines
 * NODES: a:2,b
 * PES: 3 8
 * LINK: pthread
 */
#include "nodes.h"

#include <pthread.h>

enum { ROUNDS = 40, COUNT = 50 };

static long data[2][NODES_PES_MAX][COUNT], arrived;

struct talk {
    int  row; /* of data */
    bool near;
};

static void *run(void *argument)
{
    const struct talk *talk = argument;
    int                me   = shmem_my_pe();
    shmem_ctx_t        ctx;
    static long        values[2][COUNT], got[2][COUNT];
    if (!CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0)) return NULL;
    for (long round = 1; round <= ROUNDS; round++) {
        for (long i = 0; i < COUNT; i++) values[talk->row][i] = 1000 * round + 10 * me + i;
        for (int pe = 0; pe < shmem_n_pes(); pe++) {
            if (nodes_near(pe) != talk->near) continue;
            shmem_ctx_long_put(ctx, data[talk->row][me], values[talk->row], COUNT, pe);
            shmem_ctx_quiet(ctx);
            shmem_ctx_long_get(ctx, got[talk->row], data[talk->row][me], COUNT, pe);
            for (int i = 0; i < COUNT; i++)
                if (!CHECK_EQUAL(got[talk->row][i], values[talk->row][i])) break;
            shmem_ctx_long_atomic_inc(ctx, &arrived, pe);
        }
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

static void *await_all(void *unused)
{
    (void)unused;
    shmem_long_wait_until(&arrived, SHMEM_CMP_GE, (long)ROUNDS * shmem_n_pes());
    return NULL;
}

int main(void)
{
    int provided;
    if (!CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided), 0)) return 1;
    struct talk near = {0, true}, far = {1, false};
    pthread_t   threads[3];
    shmem_barrier_all();
    CHECK_EQUAL(pthread_create(&threads[0], NULL, await_all, NULL), 0);
    CHECK_EQUAL(pthread_create(&threads[1], NULL, run, &near), 0);
    CHECK_EQUAL(pthread_create(&threads[2], NULL, run, &far), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    shmem_barrier_all();
    CHECK_EQUAL(arrived, (long)ROUNDS * shmem_n_pes());
    shmem_finalize();
    return api_result();
}
