/* SPDX-License-Identifier: Apache-2.0
 *
 * A context is told that many small updates of one kind will come, in a batch. They come, and nothing else is different: after the
 * session one completes them as ever. Each update is made twice, so every word of the table is 0 again.
 * Spec: OpenSHMEM 1.6 §9.9.2 shmem_ctx_session_start, §9.9.3 shmem_ctx_session_stop, §9.7.1.14 shmem_atomic_xor
 * Does what the specification's shmem_ctx_session_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { UPDATES = 2000, WORDS = 64 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *state >> 24;
}

static void update(shmem_ctx_t ctx, uint64_t *table)
{
    uint64_t state = (uint64_t)shmem_my_pe() + 99, n = (uint64_t)shmem_n_pes();
    for (int i = 0; i < UPDATES; i++) {
        int    pe   = (int)(next_random(&state) % n);
        size_t word = next_random(&state) % WORDS;
        shmem_ctx_uint64_atomic_xor(ctx, &table[word], next_random(&state), pe);
    }
}

int main(void)
{
    shmem_init();
    uint64_t                  *table = shmem_calloc(WORDS, sizeof *table), before = 0, after = 0;
    shmem_ctx_t                ctx;
    shmem_ctx_session_config_t config = {.total_ops = UPDATES};
    if (table == NULL || shmem_ctx_create(0, &ctx) != 0) shmem_global_exit(1);

    shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    update(ctx, table);
    shmem_ctx_session_stop(ctx);
    shmem_ctx_quiet(ctx); /* the stop completes nothing */
    shmem_sync_all();     /* nor does it synchronize    */
    for (int i = 0; i < WORDS; i++) before |= table[i];
    CHECK(before != 0);
    shmem_sync_all();

    update(ctx, table); /* the same ones, without a session */
    shmem_ctx_quiet(ctx);
    shmem_sync_all();
    for (int i = 0; i < WORDS; i++) after |= table[i];
    CHECK(after == 0);

    shmem_ctx_destroy(ctx);
    shmem_free(table);
    shmem_finalize();
    return api_result();
}
