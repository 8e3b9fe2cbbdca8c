/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations before, in and after a session, and across its ends, on contexts of every kind: results, order by fence and completion by quiet are those
 * without one. stop completes nothing and start waits for nothing, so the sources stay in use until the quiet.
 * Spec: OpenSHMEM 1.6 §9.9 Communication Sessions, §9.9.2 shmem_ctx_session_start, §9.9.3 shmem_ctx_session_stop
 * PES: 1 2 3
 */
#include "../api.h"

enum { COUNT = 700, STEPS = 4, KINDS = 5 };

static long table[KINDS][STEPS][COUNT], source[KINDS][STEPS][COUNT], sums[KINDS], flags[KINDS];

static void step(shmem_ctx_t ctx, int kind, int at, int next)
{
    for (int i = 0; i < COUNT; i++) source[kind][at][i] = kind * 1000000L + at * 10000 + i + shmem_my_pe();
    shmem_ctx_long_put_nbi(ctx, table[kind][at], source[kind][at], COUNT, next);
    shmem_ctx_long_atomic_add(ctx, &sums[kind], at + 1, next);
    shmem_ctx_fence(ctx);
    shmem_ctx_long_p(ctx, &flags[kind], at + 1, next); /* not before the put */
}

static void check_step(int kind, int at, int before)
{
    for (int i = 0; i < COUNT; i++)
        if (!CHECK_EQUAL(table[kind][at][i], kind * 1000000L + at * 10000 + i + before)) return;
}

static void work(shmem_ctx_t ctx, int kind, int next, int before)
{
    const shmem_ctx_session_config_t config = {.total_ops = 3 * STEPS};
    step(ctx, kind, 0, next);
    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    step(ctx, kind, 1, next);
    shmem_long_wait_until(&flags[kind], SHMEM_CMP_GE, 2); /* traffic goes on within a session */
    check_step(kind, 0, before);
    check_step(kind, 1, before);
    step(ctx, kind, 2, next);
    shmem_ctx_session_stop(ctx);
    step(ctx, kind, 3, next);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(shmem_long_g(&table[kind][3][COUNT - 1], next), source[kind][3][COUNT - 1]);
    shmem_barrier_all();
    for (int at = 0; at < STEPS; at++) check_step(kind, at, before);
    CHECK_EQUAL(sums[kind], STEPS * (STEPS + 1) / 2);
    CHECK_EQUAL(flags[kind], STEPS);
}

int main(void)
{
    static const long options[KINDS - 1] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    work(SHMEM_CTX_DEFAULT, 0, next, before);
    for (int kind = 1; kind < KINDS; kind++) {
        shmem_ctx_t ctx;
        if (!CHECK_EQUAL(shmem_ctx_create(options[kind - 1], &ctx), 0)) break;
        work(ctx, kind, next, before);
        shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
        shmem_ctx_destroy(ctx); /* with a session on it */
    }
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    shmem_finalize();
    return api_result();
}
