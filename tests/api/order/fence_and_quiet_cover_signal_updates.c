/* SPDX-License-Identifier: Apache-2.0
 *
 * signal_add, signal_set and both kinds of put_signal are ordered by fence and completed by quiet, as updates by atomics are.
 * The standard's table leaves the first two out; to treat them as atomics that fetch nothing is our choice. The values that a
 * nonblocking atomic fetches are there after quiet.
 * Spec: OpenSHMEM 1.6 §9.12 Memory Ordering Routines, §9.12.1 shmem_fence, §9.12.2 shmem_quiet, §9.8.5 shmem_signal_add
 * Spec: OpenSHMEM 1.6 §9.8.7 shmem_signal_set
 * PES: 2 3
 * ENV: POSTERN_CHAOS_DELAY=20us
 */
#include "../api.h"

enum { ROUNDS = 60, COUNT = 300 };

static long     data[COUNT], other[COUNT], number, flag, taken;
static uint64_t added, set, by_put, by_nbi;

/* Everything of a round, toward the next PE. source lives until the quiet. */
static void update(shmem_ctx_t ctx, long *source, long round, long *fetched, int next)
{
    for (int i = 0; i < COUNT; i++) source[i] = round * 1000 + i;
    shmem_ctx_signal_add(ctx, &added, 3, next);
    shmem_ctx_signal_set(ctx, &set, (uint64_t)round, next);
    shmem_ctx_long_put_signal(ctx, data, source, COUNT, &by_put, 1, SHMEM_SIGNAL_ADD, next);
    shmem_ctx_long_put_signal_nbi(ctx, other, source, COUNT, &by_nbi, (uint64_t)round, SHMEM_SIGNAL_SET, next);
    shmem_ctx_long_atomic_fetch_inc_nbi(ctx, fetched, &number, next);
}

static void expect(long round)
{
    CHECK_EQUAL(shmem_signal_fetch(&added), 3 * round);
    CHECK_EQUAL(shmem_signal_fetch(&set), round);
    CHECK_EQUAL(shmem_signal_fetch(&by_put), round);
    CHECK_EQUAL(shmem_signal_fetch(&by_nbi), round);
    CHECK_EQUAL(shmem_long_atomic_fetch(&number, shmem_my_pe()), round);
    for (int i = 0; i < COUNT; i++) CHECK(data[i] == round * 1000 + i && other[i] == round * 1000 + i);
}

int main(void)
{
    static long source[COUNT];
    shmem_init();
    shmem_ctx_t ctx;
    int         me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_ctx_t on      = round % 3 ? SHMEM_CTX_DEFAULT : ctx;
        long        fetched = -1;
        update(on, source, round, &fetched, next);
        if (round % 2) shmem_ctx_fence(on);
        else shmem_ctx_quiet(on);
        if (round % 2 == 0) CHECK_EQUAL(fetched, round - 1);
        shmem_ctx_long_p(on, &flag, round, next);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        expect(round);
        shmem_ctx_quiet(on); /* source may be written again */
        CHECK_EQUAL(fetched, round - 1);
        shmem_long_atomic_set(&taken, round, before);
        shmem_long_wait_until(&taken, SHMEM_CMP_EQ, round);
    }
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return api_result();
}
