/* SPDX-License-Identifier: Apache-2.0
 *
 * What a context remembers of its session, as its debug messages tell: options of repeated starts are joined, a config field that the mask selects
 * replaces the one before and others stay, a stop forgets all, and contexts are told apart.
 * Spec: OpenSHMEM 1.6 §9.9.1 shmem_ctx_session_config_t, §9.9.2 shmem_ctx_session_start, §9.9.3 shmem_ctx_session_stop
 * PES: 1
 * ENV: SHMEM_DEBUG=1
 * NOVALGRIND: addresses are compared as text
 * OUTPUT: context 0x1 begins or goes on: no option, total_ops 101
 * OUTPUT: context 0x1 begins or goes on: batch, total_ops 101
 * OUTPUT: context 0x1 begins or goes on: batch, total_ops 102
 * OUTPUT: context 0x1 ends: batch, total_ops 102
 * OUTPUT: context 0x.......* begins or goes on: no option, total_ops 7
 * OUTPUT: context 0x1 begins or goes on: no option, total_ops not said
 * NOOUTPUT: ends: no option
 * NOOUTPUT: 103
 */
#include "../api.h"

int main(void)
{
    shmem_ctx_session_config_t config = {.total_ops = 101};
    shmem_ctx_t                ctx;
    shmem_init();
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    config.total_ops = 103;
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, SHMEM_CTX_SESSION_BATCH, &config, 0);
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0);
    config.total_ops = 102;
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
    config.total_ops = 7;
    shmem_ctx_session_start(ctx, 0, &config, SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT);
    shmem_ctx_session_stop(SHMEM_CTX_DEFAULT); /* says nothing: there is none */
    shmem_ctx_session_start(SHMEM_CTX_DEFAULT, 0, NULL, 0);
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return api_result();
}
