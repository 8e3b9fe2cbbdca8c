/* SPDX-License-Identifier: Apache-2.0
 *
 * start in a session, stop without one and SHMEM_CTX_INVALID are all harmless, also before shmem_init where there is no context to speak of; config is
 * read only where the mask says so. In checked mode too.
 * Spec: OpenSHMEM 1.6 §9.9.1 shmem_ctx_session_config_t, §9.9.2 shmem_ctx_session_start, §9.9.3 shmem_ctx_session_stop
 * PES: 1 2
 * ENV: POSTERN_CHECK=1
 */
#include "../api.h"

static long word;

static void use(shmem_ctx_t ctx, long round)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    shmem_ctx_long_p(ctx, &word, round, next);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(shmem_long_g(&word, next), round);
    shmem_barrier_all();
}

int main(void)
{
    const shmem_ctx_session_config_t *unreadable = (const shmem_ctx_session_config_t *)(uintptr_t)8;
    const shmem_ctx_session_config_t  config = {.total_ops = SIZE_MAX}, none = {.total_ops = 0};
    shmem_ctx_t                       ctx;
    shmem_init();
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_start(SHMEM_CTX_INVALID, -1, NULL, -1); /* nothing of it is looked at */
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
    const shmem_ctx_t both[] = {SHMEM_CTX_DEFAULT, ctx};
    for (int i = 0; i < 2; i++) {
        shmem_ctx_session_stop(both[i]); /* never begun */
        shmem_ctx_session_start(both[i], SHMEM_CTX_SESSION_BATCH, unreadable, 0);
        shmem_ctx_session_start(both[i], 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
        shmem_ctx_session_start(both[i], SHMEM_CTX_SESSION_BATCH, &none, SHMEM_CTX_SESSION_TOTAL_OPS);
        shmem_ctx_session_start(both[i], 0, NULL, 0);
        use(both[i], 10 * i + 1);
        shmem_ctx_session_stop(both[i]);
        shmem_ctx_session_stop(both[i]);
        use(both[i], 10 * i + 2);
        shmem_ctx_session_start(both[i], 0, NULL, 0);
    }
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return api_result();
}
