/* SPDX-License-Identifier: Apache-2.0
 *
 * Destroying a team destroys the shareable contexts that were made on it, and completes what is under way on them; parents and
 * children live on. finalize destroys the teams, and their contexts, that are left. Several rounds of init and finalize, so that
 * what was left would be met again.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize, §9.4.8 shmem_team_destroy
 * PES: 1 2 3
 */
#include "../api.h"

enum { ROUNDS = 3, CONTEXTS = 20, COUNT = 20000 };

static long words[COUNT], source[COUNT];

/* Puts on contexts that nobody destroys. */
static void leave_contexts(shmem_team_t team, long mark)
{
    shmem_ctx_t ctx[CONTEXTS];
    int         me = shmem_team_my_pe(team), n = shmem_team_n_pes(team);
    for (int i = 0; i < COUNT; i++) source[i] = mark + me + i;
    for (int i = 0; i < CONTEXTS; i++) {
        if (!CHECK_EQUAL(shmem_team_create_ctx(team, i % 2 ? SHMEM_CTX_SERIALIZED : 0, &ctx[i]), 0)) return;
        if (i == CONTEXTS - 1) shmem_ctx_long_put_nbi(ctx[i], words, source, COUNT, (me + 1) % n);
    }
}

int main(void)
{
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_init();
        int          n = shmem_n_pes();
        shmem_team_t parent, child, left;
        CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &parent), 0);
        CHECK_EQUAL(shmem_team_split_strided(parent, 0, 1, n, NULL, 0, &child), 0);
        leave_contexts(parent, round * 1000);
        shmem_team_destroy(parent);
        CHECK_EQUAL(shmem_team_sync(child), 0); /* its parent is no more */
        int before = (shmem_team_my_pe(child) + n - 1) % n;
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(words[i], round * 1000 + before + i);
        CHECK_EQUAL(shmem_team_split_strided(child, 0, 1, n, NULL, 0, &left), 0);
        shmem_team_destroy(SHMEM_TEAM_INVALID);
        leave_contexts(left, round * 2000);
        before = (shmem_team_my_pe(left) + n - 1) % n;
        shmem_finalize();
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(words[i], round * 2000 + before + i);
    }
    return api_result();
}
