/* SPDX-License-Identifier: Apache-2.0
 *
 * PE arguments on a context count members of its team, in every call that takes one. Here the team is
 * SHMEM_TEAM_SHARED: its numbers differ from the world's where not all PEs share memory.
 * Spec: OpenSHMEM 1.6 §9.5 Communication Management Routines, §9.5.2 shmem_team_create_ctx
 */
#include "../api.h"

enum { MEMBERS = 64 };
static long     put_word[MEMBERS], p_word[MEMBERS], amo_word, get_word;
static uint64_t signal_word, put_signal_word;
static long     put_signal_data[MEMBERS];

int main(void)
{
    shmem_init();
    shmem_ctx_t ctx;
    int         me = shmem_team_my_pe(SHMEM_TEAM_SHARED), n = shmem_team_n_pes(SHMEM_TEAM_SHARED);
    CHECK_EQUAL(shmem_team_create_ctx(SHMEM_TEAM_SHARED, 0, &ctx), 0);
    get_word = 500 + me;
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        long value = 1000 * me + pe;
        CHECK_EQUAL(shmem_ctx_long_g(ctx, &get_word, pe), 500 + pe);
        shmem_ctx_long_put(ctx, &put_word[me], &value, 1, pe);
        shmem_ctx_long_p(ctx, &p_word[me], value, pe);
        shmem_ctx_long_atomic_add(ctx, &amo_word, pe + 1, pe);
        shmem_ctx_long_put_signal(ctx, &put_signal_data[me], &value, 1, &put_signal_word, 1, SHMEM_SIGNAL_ADD, pe);
        shmem_ctx_signal_add(ctx, &signal_word, 1, pe);
        shmem_ctx_pe_quiet(ctx, &pe, 1);
    }
    shmem_ctx_quiet(ctx);
    shmem_barrier_all();
    CHECK_EQUAL(amo_word, n * (me + 1));
    CHECK_EQUAL(signal_word, n);
    CHECK_EQUAL(put_signal_word, n);
    for (int pe = 0; pe < n; pe++) {
        CHECK_EQUAL(put_word[pe], 1000 * pe + me);
        CHECK_EQUAL(p_word[pe], 1000 * pe + me);
        CHECK_EQUAL(put_signal_data[pe], 1000 * pe + me);
    }
    shmem_ctx_destroy(ctx);
    shmem_finalize();
    return api_result();
}
