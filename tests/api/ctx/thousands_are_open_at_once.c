/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 *
 * Making a context works or returns nonzero with SHMEM_CTX_INVALID, the library stays usable, and it may be tried again. B22.
 * Spec: OpenSHMEM 1.6 §9.5.1 shmem_ctx_create, §9.5.2 shmem_team_create_ctx
 */
#include "../api.h"

enum { CONTEXTS_MAX = 4096, CONTEXTS_POSTED = 256 };
static shmem_ctx_t ctx[CONTEXTS_MAX];
static long        word;

int main(void)
{
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes(), made = 0;
    /* The chaos transport looks at the queues of all contexts in every wait: thousands would take minutes. */
    int most = getenv("POSTERN_TRANSPORTS") ? CONTEXTS_POSTED : CONTEXTS_MAX;
    for (; made < most; made++) {
        ctx[made] = SHMEM_CTX_DEFAULT;
        if (shmem_ctx_create(made % 2 ? SHMEM_CTX_NOSTORE : 0, &ctx[made]) == 0) continue;
        CHECK(ctx[made] == SHMEM_CTX_INVALID);
        break;
    }
    CHECK(made >= 64);
    for (int i = 0; i < made; i++) shmem_ctx_long_atomic_inc(ctx[i], &word, next);
    for (int i = 0; i < made; i += 2) shmem_ctx_destroy(ctx[i]);
    for (int i = 1; i < made; i += 2) shmem_ctx_destroy(ctx[i]);
    CHECK_EQUAL(shmem_ctx_create(0, &ctx[0]), 0);
    shmem_ctx_long_atomic_inc(ctx[0], &word, next);
    shmem_ctx_destroy(ctx[0]);

    static int counts[64];
    for (int pe = 0; pe < shmem_n_pes(); pe++) shmem_int_p(&counts[shmem_my_pe()], made + 1, pe);
    shmem_barrier_all();
    CHECK_EQUAL(word, counts[(shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes()]);
    shmem_finalize();
    return api_result();
}
