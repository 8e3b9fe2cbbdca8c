/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises to several threads: different contexts run in parallel.
 */
#include "tests/transport/harness.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 150 };

struct worker {
    struct pe          pe; /* a copy: a failure is noted without a race */
    struct shmemt_ctx *ctx;
    unsigned           index;
};

/* Puts, adds and gets on a context of its own. */
static void *work(void *argument)
{
    struct worker *worker = argument;
    struct pe     *pe     = &worker->pe;
    uint64_t       place  = 4096u * (1 + worker->index);
    char           source[256], seen[256];
    for (unsigned round = 0; round < ROUNDS && !pe->failed; round++) {
        harness_fill(source, sizeof source, round + worker->index);
        harness_put_bytes(pe, worker->ctx, pe->next, place, source, sizeof source);
        harness_update(pe, worker->ctx, pe->next, 0, SHMEMT_AMO_ADD, 1);
        harness_quiet_all(pe, worker->ctx);
        harness_get_bytes(pe, worker->ctx, pe->next, place, seen, sizeof seen);
        harness_quiet_all(pe, worker->ctx);
        EXPECT_SAME(pe, seen, source, sizeof source);
    }
    return NULL;
}

static void contexts_of_several_threads_run_in_parallel(struct pe *pe)
{
    struct worker workers[THREADS];
    pthread_t     threads[THREADS];
    char         *counter = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP);
    harness_write(counter, 0);
    harness_barrier(pe);
    for (unsigned i = 0; i < THREADS; i++) workers[i] = (struct worker){.pe = *pe, .ctx = harness_open_ctx(pe), .index = i};
    for (unsigned i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, &workers[i]);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        EXPECT(pe, !workers[i].pe.failed);
        harness_close_ctx(pe, workers[i].ctx);
    }
    harness_barrier(pe);
    EXPECT_EQ(pe, harness_read(counter), THREADS * ROUNDS);
}

const struct check checks_threads[] = {
    CHECK_NAMED(contexts_of_several_threads_run_in_parallel, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    {0},
};
