/* SPDX-License-Identifier: Apache-2.0
 *
 * The context of a put_signal is that of its payload and of its signal: after a quiet on it both are at the target, for a third
 * PE too, though nobody has waited for the signal and no other context was quieted.
 * Spec: OpenSHMEM 1.6 §9.8.3 shmem_put_signal, §9.8.4 shmem_put_signal_nbi
 * PES: 2 3
 * ENV: POSTERN_CHAOS_DELAY=20us
 */
#include "../api.h"

enum { ROUNDS = 40, COUNT = 700 };

static long     data[2][COUNT], told;
static uint64_t signals[2];

/* What a PE that was told reads at `at`: the second PE's memory, where there are three PEs. */
static void read_back(long round, int at)
{
    long got[COUNT];
    for (int k = 0; k < 2; k++) {
        CHECK_EQUAL(shmem_uint64_atomic_fetch(&signals[k], at), round);
        shmem_long_get(got, data[k], COUNT, at);
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(got[i], round * 1000 + i);
    }
}

int main(void)
{
    static long source[COUNT];
    shmem_init();
    shmem_ctx_t ctx;
    int         me = shmem_my_pe(), n = shmem_n_pes(), reader = n - 1;
    CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx), 0);
    for (long round = 1; round <= ROUNDS; round++) {
        if (me == 0) {
            for (int i = 0; i < COUNT; i++) source[i] = round * 1000 + i;
            shmem_ctx_long_put_signal(ctx, data[0], source, COUNT, &signals[0], 1, SHMEM_SIGNAL_ADD, 1);
            shmem_ctx_long_put_signal_nbi(ctx, data[1], source, COUNT, &signals[1], (uint64_t)round, SHMEM_SIGNAL_SET, 1);
            shmem_ctx_quiet(ctx);
            shmem_long_atomic_set(&told, round, reader);
        }
        if (me == reader) {
            shmem_long_wait_until(&told, SHMEM_CMP_EQ, round);
            read_back(round, 1);
        }
        shmem_sync_all();
    }
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return api_result();
}
