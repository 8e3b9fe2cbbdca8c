/* SPDX-License-Identifier: Apache-2.0
 *
 * After a split the parent and the new team may be used at once, though other PEs are still in the call: the next split,
 * collectives on either, contexts, and the end of the team follow with no synchronization by the program, and some PEs come
 * late.
 * Spec: OpenSHMEM 1.6 §9.4 Team Management Routines, §9.4.6 shmem_team_split_strided, §9.4.8 shmem_team_destroy
 * PES: 2 3 5
 */
#include "../api.h"

#include <sched.h>

enum { ROUNDS = 60 };

static long words[3][8];

static void dawdle(int round)
{
    for (int i = 0; i < (round * 7 + shmem_my_pe() * 13) % 5 * 20; i++) sched_yield();
}

/* Put to the next member, and find what the one before has put. */
static void talk(shmem_team_t team, long *slots, long mark)
{
    shmem_ctx_t ctx;
    int         me = shmem_team_my_pe(team), n = shmem_team_n_pes(team), before = (me + n - 1) % n;
    if (!CHECK_EQUAL(shmem_team_create_ctx(team, 0, &ctx), 0)) return;
    shmem_ctx_long_p(ctx, &slots[me], mark + me, (me + 1) % n);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(shmem_team_sync(team), 0);
    CHECK_EQUAL(slots[before], mark + before);
    CHECK_EQUAL(shmem_team_sync(team), 0);
    shmem_ctx_destroy(ctx);
}

int main(void)
{
    shmem_init();
    int n = shmem_n_pes();
    for (int round = 1; round <= ROUNDS; round++) {
        shmem_team_t child = SHMEM_TEAM_INVALID, grandchild = SHMEM_TEAM_INVALID;
        dawdle(round);
        CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &child), 0);
        if (round % 2) talk(child, words[0], round * 100);
        CHECK_EQUAL(shmem_team_split_strided(child, 0, 1, n - 1, NULL, 0, &grandchild), 0);
        if (grandchild != SHMEM_TEAM_INVALID) talk(grandchild, words[1], round * 1000);
        dawdle(round + 1);
        talk(SHMEM_TEAM_WORLD, words[2], round * 10000);
        talk(child, words[0], round * 100 + 50);
        if (grandchild != SHMEM_TEAM_INVALID) shmem_team_destroy(grandchild);
        shmem_team_destroy(child);
    }
    shmem_finalize();
    return api_result();
}
