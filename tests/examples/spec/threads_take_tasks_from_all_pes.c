/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE has tasks, and a counter of those that are given out. Threads with a private context each take tasks of their own PE,
 * then help the next one. Each task is done once, by somebody.
 * Spec: OpenSHMEM 1.6 §9.5.3 shmem_ctx_destroy, §9.5.1 shmem_ctx_create, §9.2 Thread Support
 * Does what the specification's shmem_ctx does.
 * LINK: pthread
 * PES: 2 3
 */
#include <pthread.h>
#include "../../api/api.h"

enum { THREADS = 3, TASKS = 120 };
static long given_out, done_of[TASKS], mine_done, all_done;

static void *work(void *argument)
{
    shmem_ctx_t ctx;
    long       *done = argument;
    int         n    = shmem_n_pes();
    if (!CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0)) return NULL;
    for (int i = 0; i < n; i++) {
        int  pe = (shmem_my_pe() + i) % n;
        long task;
        while ((task = shmem_atomic_fetch_inc(ctx, &given_out, pe)) < TASKS) {
            shmem_atomic_inc(ctx, &done_of[task], pe); /* the task */
            ++*done;
        }
    }
    shmem_ctx_destroy(ctx); /* completes */
    return NULL;
}

int main(void)
{
    int       level;
    pthread_t threads[THREADS];
    long      done[THREADS] = {0};
    CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
    CHECK_EQUAL(level, SHMEM_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, &done[i]) != 0) shmem_global_exit(2);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        mine_done += done[i];
    }
    CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all_done, &mine_done, 1), 0);
    CHECK_EQUAL(all_done, (long)TASKS * shmem_n_pes());
    for (int i = 0; i < TASKS; i++) CHECK_EQUAL(done_of[i], 1); /* the reduction came after every PE's contexts were gone */
    shmem_finalize();
    return api_result();
}
