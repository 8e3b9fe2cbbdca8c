/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations before a fence are delivered before those after it, per PE: data by every kind of put and by atomics, then a flag
 * by p, nonblocking put or atomic; to all PEs in turn, and on a context with its own fence.
 * Spec: OpenSHMEM 1.6 §9.12 Memory Ordering Routines, §9.12.1 shmem_fence
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../ring.h"

enum { ROUNDS = 120, COUNT = 600 };

static long data[COUNT], one, strided[8], counter, flag, taken;

int main(void)
{
    static long values[COUNT], flags[ROUNDS + 1];
    shmem_init();
    struct ring ring = ring_open();
    bool        same = ring.next == ring.ctx_next_world;
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        bool        on_ctx = same && round % 3 == 0;
        shmem_ctx_t ctx    = on_ctx ? ring.ctx : SHMEM_CTX_DEFAULT;
        int         pe     = on_ctx ? ring.ctx_next : ring.next;
        for (int i = 0; i < COUNT; i++) values[i] = round * 1000 + i;
        flags[round] = round;
        if (round % 2) shmem_ctx_long_iput(ctx, strided, values, 2, 3, 4, pe); /* may wait until the source is read */
        shmem_ctx_long_atomic_inc(ctx, &counter, pe);
        shmem_ctx_long_p(ctx, &one, round, pe);
        shmem_ctx_long_put_nbi(ctx, data, values, COUNT, pe); /* last, so that nothing waits between it and the fence */
        shmem_ctx_fence(ctx);
        if (round % 4 == 0) shmem_ctx_long_put_nbi(ctx, &flag, &flags[round], 1, pe);
        else if (round % 4 == 1) shmem_ctx_long_p(ctx, &flag, round, pe);
        else shmem_ctx_long_atomic_set(ctx, &flag, round, pe);
        shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(data[i], round * 1000 + i);
        for (int i = 0; i < 4 && round % 2; i++) CHECK_EQUAL(strided[2 * i], round * 1000 + 3 * i);
        CHECK_EQUAL(one, round);
        CHECK_EQUAL(shmem_long_atomic_fetch(&counter, ring.me), round);
        shmem_long_atomic_inc(&taken, ring.before);
        shmem_long_wait_until(&taken, SHMEM_CMP_GE, round);
        shmem_ctx_quiet(ctx); /* values may be written again */
    }
    shmem_barrier_all();
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
