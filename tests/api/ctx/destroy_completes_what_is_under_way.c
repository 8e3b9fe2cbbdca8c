/* SPDX-License-Identifier: Apache-2.0
 *
 * Destroying a context performs a quiet on it first. So after it and a sync (which quiets no context) all data are there.
 * Spec: OpenSHMEM 1.6 §9.5.3 shmem_ctx_destroy
 */
#include "../api.h"

enum { ROUNDS = 20, WORDS = 500 };
static long words[WORDS], source[WORDS];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_ctx_t ctx;
        if (!CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0)) break;
        for (int i = 0; i < WORDS; i++) source[i] = round * 1000 + i + me;
        for (int i = 0; i < WORDS; i += 50) shmem_ctx_long_put_nbi(ctx, &words[i], &source[i], 50, next);
        shmem_ctx_destroy(ctx);
        shmem_sync_all();
        for (int i = 0; i < WORDS; i++)
            if (!CHECK_EQUAL(words[i], round * 1000 + i + (me + n - 1) % n)) break;
        shmem_sync_all();
    }
    shmem_finalize();
    return api_result();
}
