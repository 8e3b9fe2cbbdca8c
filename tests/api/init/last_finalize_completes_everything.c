/* SPDX-License-Identifier: Apache-2.0
 *
 * The last finalize waits for all PEs and completes pending communication, on shareable contexts that were
 * left open too. Static objects outlive it, so they can be looked at.
 * Spec: OpenSHMEM 1.6 §4 Execution Model, §9.1.4 shmem_finalize
 */
#include "../api.h"

#include <unistd.h>

static long by_default[64], by_context[64], source[64];

int main(void)
{
    shmem_init();
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    int         me = shmem_my_pe(), n = shmem_n_pes();
    CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
    for (int pe = 0; pe < n; pe++) source[pe] = 1000 * me + pe + 1;
    if (me == n - 1) usleep(50000);
    for (int pe = 0; pe < n; pe++) {
        shmem_long_put_nbi(&by_default[me], &source[pe], 1, pe);
        if (ctx != SHMEM_CTX_INVALID) shmem_ctx_long_put_nbi(ctx, &by_context[me], &source[pe], 1, pe);
    }
    shmem_finalize();
    for (int pe = 0; pe < n; pe++) {
        CHECK_EQUAL(by_default[pe], 1000 * pe + me + 1);
        CHECK_EQUAL(by_context[pe], 1000 * pe + me + 1);
    }
    return api_result();
}
