/* SPDX-License-Identifier: Apache-2.0
 *
 * A library that gives each thread a context of its own, kept in a thread-local variable that starts as SHMEM_CTX_INVALID. A thread
 * that registers twice has one; a thread that never did has none.
 * Spec: OpenSHMEM 1.6 §9.5.3 shmem_ctx_destroy, §7 Library Handles, §9.6.1.1 shmem_putmem
 * Does what the specification's shmem_ctx_invalid does.
 * LINK: pthread
 * PES: 2 3
 */
#include <pthread.h>
#include "../../api/api.h"

enum { THREADS = 4, BYTES = 5000 };

/* The library. */
static _Thread_local shmem_ctx_t own = SHMEM_CTX_INVALID;

static void enter(void)
{
    if (own == SHMEM_CTX_INVALID && shmem_ctx_create(SHMEM_CTX_PRIVATE, &own) != 0) own = SHMEM_CTX_DEFAULT;
}

static void leave(void)
{
    if (own != SHMEM_CTX_DEFAULT) shmem_ctx_destroy(own); /* nothing where it is SHMEM_CTX_INVALID */
    own = SHMEM_CTX_INVALID;
}

static void copy(void *dest, const void *source, size_t bytes, int pe)
{
    shmem_ctx_putmem(own, dest, source, bytes, pe);
}

/* Its user. */
static unsigned char lanes[THREADS][BYTES];

static void *work(void *argument)
{
    int           lane = (int)(intptr_t)argument, me = shmem_my_pe();
    unsigned char mine[BYTES];
    memset(mine, 16 * me + lane + 1, sizeof mine);
    enter();
    shmem_ctx_t first = own;
    enter();
    CHECK(own == first && own != SHMEM_CTX_INVALID);
    copy(lanes[lane], mine, BYTES, (me + 1) % shmem_n_pes());
    leave();
    leave();
    CHECK(own == SHMEM_CTX_INVALID);
    return NULL;
}

int main(void)
{
    int       level;
    pthread_t threads[THREADS];
    if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level) != 0 || level != SHMEM_THREAD_MULTIPLE) return 1;
    for (intptr_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) shmem_global_exit(2);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(own == SHMEM_CTX_INVALID); /* of this thread */
    shmem_barrier_all();
    int before = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    for (int i = 0; i < THREADS; i++) {
        CHECK_EQUAL(lanes[i][0], 16 * before + i + 1);
        CHECK(memcmp(lanes[i], lanes[i] + 1, BYTES - 1) == 0);
    }
    shmem_finalize();
    return api_result();
}
