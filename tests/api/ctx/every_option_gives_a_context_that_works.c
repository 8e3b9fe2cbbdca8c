/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of a context are flags that combine by OR; each context carries puts, gets, atomics and its own quiet. B20.
 * Spec: OpenSHMEM 1.6 §9.5 Communication Management Routines, §9.5.1 shmem_ctx_create, §9.5.3 shmem_ctx_destroy
 */
#include "../api.h"

enum { OPTIONS = 8, BYTES = 100000 };

static long counter;

static void use(shmem_ctx_t ctx, char *there, char *mine, char *back)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    memset(mine, 'a' + me % 26, BYTES);
    shmem_ctx_putmem_nbi(ctx, there, mine, BYTES, next);
    shmem_ctx_long_atomic_inc(ctx, &counter, next);
    shmem_ctx_fence(ctx);
    shmem_ctx_quiet(ctx);
    shmem_ctx_getmem(ctx, back, there, BYTES, next);
    CHECK(memcmp(back, mine, BYTES) == 0);
}

int main(void)
{
    static const long flags[OPTIONS] = {
        0,
        SHMEM_CTX_SERIALIZED,
        SHMEM_CTX_PRIVATE,
        SHMEM_CTX_NOSTORE,
        SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE,
        SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE,
        SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED,
        SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE,
    };
    shmem_ctx_t ctx[OPTIONS];
    shmem_init();
    char *blocks[OPTIONS], *mine = malloc(BYTES), *back = malloc(BYTES);
    for (int i = 0; i < OPTIONS; i++) {
        blocks[i] = shmem_malloc(BYTES);
        CHECK_EQUAL(shmem_ctx_create(flags[i], &ctx[i]), 0);
        CHECK(ctx[i] != SHMEM_CTX_INVALID && ctx[i] != SHMEM_CTX_DEFAULT);
        for (int k = 0; k < i; k++) CHECK(ctx[k] != ctx[i]);
    }
    for (int i = 0; i < OPTIONS; i++) use(ctx[i], blocks[i], mine, back);
    shmem_barrier_all(); /* with all of them open */
    CHECK_EQUAL(counter, OPTIONS);
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < OPTIONS; i++) CHECK_EQUAL(blocks[i][BYTES - 1], 'a' + (me + n - 1) % n % 26);

    /* another order than that of their making */
    for (int i = 0; i < OPTIONS; i++) shmem_ctx_destroy(ctx[(i * 3 + 5) % OPTIONS]);
    shmem_barrier_all();
    for (int i = 0; i < OPTIONS; i++) shmem_free(blocks[i]);
    free(mine);
    free(back);
    shmem_finalize();
    return api_result();
}
