/* SPDX-License-Identifier: Apache-2.0
 *
 * signal_set and signal_add, the put_signal operators, their context forms and signal_fetch: 64 bits, modulo 2^64; adds of all
 * PEs at once are all counted.
 * Spec: OpenSHMEM 1.6 §9.8.1 Atomicity Guarantees, §9.8.2 Available Signal Operators, §9.8.5 to §9.8.7
 */
#include "../ring.h"

enum { ROUNDS = 200 };

static uint64_t word, sum, ctx_sum;

int main(void)
{
    shmem_init();
    struct ring ring = ring_open();
    shmem_barrier_all();
    shmem_signal_set(&word, UINT64_MAX, ring.next);
    CHECK(shmem_signal_wait_until(&word, SHMEM_CMP_EQ, UINT64_MAX) == UINT64_MAX);
    shmem_barrier_all();
    shmem_signal_add(&word, 3, ring.next);
    CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 2), 2);
    shmem_barrier_all();
    shmem_ctx_signal_set(ring.ctx, &word, UINT64_C(1) << 40, ring.ctx_next);
    shmem_ctx_quiet(ring.ctx);
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(&word), 1LL << 40);
    shmem_barrier_all();
    shmem_ctx_signal_add(ring.ctx, &word, 5, ring.ctx_next);
    shmem_ctx_quiet(ring.ctx);
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(&word), (1LL << 40) + 5);

    for (int i = 0; i < ROUNDS; i++) {
        shmem_signal_add(&sum, 2, 0);
        shmem_ctx_signal_add(ring.ctx, &ctx_sum, 3, 0);
        shmem_long_put_signal(NULL, NULL, 0, &sum, 1, SHMEM_SIGNAL_ADD, 0);
    }
    ring_complete(&ring);
    if (ring.me == 0) CHECK_EQUAL(shmem_signal_fetch(&sum), 3LL * ROUNDS * ring.npes);
    if (shmem_team_my_pe(ring.team) == 0) CHECK_EQUAL(shmem_signal_fetch(&ctx_sum), 3LL * ROUNDS * shmem_team_n_pes(ring.team));
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
