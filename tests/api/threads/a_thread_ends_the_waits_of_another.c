/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread waits in each kind of wait; what it waits for is an atomic, a signal or a put that another thread of the same PE
 * makes toward its own PE, on the default context, a shared one and a private one. A lock of the library that is held while
 * waiting would be for ever.
 * Spec: OpenSHMEM 1.6 §9.2 Thread Support, §9.11 Point-To-Point Synchronization Routines
 * PES: 1 2
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>
#include <sched.h>

enum { COUNT = 3, KINDS = 8, ROUNDS = 12 };

static long        words[COUNT];
static uint64_t    signal_word;
static atomic_long begun, done;
static shmem_ctx_t shared;

static void wait_once(int kind, long wanted)
{
    const long values[COUNT] = {wanted, wanted, wanted};
    size_t     indices[COUNT];
    switch (kind) {
    case 0: shmem_long_wait_until(&words[2], SHMEM_CMP_EQ, wanted); break;
    case 1: shmem_long_wait_until_all(words, COUNT, NULL, SHMEM_CMP_EQ, wanted); break;
    case 2: shmem_long_wait_until_any(words, COUNT, NULL, SHMEM_CMP_EQ, wanted); break;
    case 3: shmem_long_wait_until_some(words, COUNT, indices, NULL, SHMEM_CMP_EQ, wanted); break;
    case 4: shmem_long_wait_until_all_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values); break;
    case 5: shmem_long_wait_until_any_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values); break;
    case 6: shmem_long_wait_until_some_vector(words, COUNT, indices, NULL, SHMEM_CMP_EQ, values); break;
    default: shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, (uint64_t)wanted); break;
    }
}

static void *waiter(void *unused)
{
    for (long step = 1; step <= KINDS * ROUNDS; step++) {
        atomic_store(&begun, step);
        wait_once((int)(step % KINDS), step);
        atomic_store(&done, step);
    }
    return unused;
}

static void satisfy(long step, shmem_ctx_t own, int me)
{
    const shmem_ctx_t all[] = {SHMEM_CTX_DEFAULT, shared, own};
    shmem_ctx_t       ctx   = all[step / KINDS % 3];
    for (int i = 0; i < COUNT; i++) {
        if (step / KINDS % 2) shmem_ctx_long_atomic_set(ctx, &words[i], step, me);
        else shmem_ctx_long_p(ctx, &words[i], step, me);
    }
    if (step / KINDS % 2) shmem_ctx_signal_set(ctx, &signal_word, (uint64_t)step, me);
    else shmem_ctx_long_put_signal(ctx, &words[0], &step, 1, &signal_word, (uint64_t)step, SHMEM_SIGNAL_SET, me);
    shmem_ctx_quiet(ctx);
}

int main(void)
{
    int         provided;
    pthread_t   thread;
    shmem_ctx_t own;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int me = shmem_my_pe();
    CHECK_EQUAL(shmem_ctx_create(0, &shared), 0);
    CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &own), 0);
    if (pthread_create(&thread, NULL, waiter, NULL) != 0) abort();
    for (long step = 1; step <= KINDS * ROUNDS; step++) {
        while (atomic_load(&begun) < step) sched_yield();
        for (int i = 0; i < 20; i++) sched_yield(); /* most often it is in its wait by now */
        satisfy(step, own, me);
        while (atomic_load(&done) < step) sched_yield();
    }
    pthread_join(thread, NULL);
    shmem_ctx_destroy(own);
    shmem_ctx_destroy(shared);
    shmem_finalize();
    return api_result();
}
