/* SPDX-License-Identifier: Apache-2.0
 *
 * Two teams that overlap, of every second and of every third PE, each with a context of its own: a ring on each, with the team's
 * numbers, and a sum over those that are in both.
 * Spec: OpenSHMEM 1.6 §9.5.2 shmem_team_create_ctx, §9.4.3 shmem_team_config_t, §9.5.4 shmem_ctx_get_team
 * Does what the specification's shmem_team_context does.
 * PES: 2 3 7
 */
#include "../../api/api.h"

struct circle {
    shmem_team_t team;
    shmem_ctx_t  ctx;
    int          size;
};

static int from_before[4], sum;

static struct circle open_circle(int step)
{
    shmem_team_config_t config = {.num_contexts = 1};
    struct circle       c      = {.size = (shmem_n_pes() + step - 1) / step};
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, step, c.size, &config, SHMEM_TEAM_NUM_CONTEXTS, &c.team), 0);
    int status = shmem_team_create_ctx(c.team, 0, &c.ctx);
    CHECK((status == 0) == (c.team != SHMEM_TEAM_INVALID));
    CHECK((c.ctx == SHMEM_CTX_INVALID) == (c.team == SHMEM_TEAM_INVALID));
    return c;
}

static void pass_on(const struct circle *c, int *place)
{
    if (c->ctx == SHMEM_CTX_INVALID) return;
    int me = shmem_team_my_pe(c->team) + 1;
    shmem_ctx_int_put(c->ctx, place, &me, 1, me % c->size);
}

static void close_circle(struct circle *c)
{
    shmem_ctx_destroy(c->ctx); /* before its team */
    shmem_team_destroy(c->team);
}

int main(void)
{
    shmem_init();
    int           n    = shmem_n_pes();
    struct circle twos = open_circle(2), threes = open_circle(3);
    pass_on(&twos, &from_before[2]);
    pass_on(&threes, &from_before[3]);
    shmem_ctx_quiet(twos.ctx);
    shmem_ctx_quiet(threes.ctx);
    CHECK_EQUAL(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
    if (twos.team != SHMEM_TEAM_INVALID && threes.team != SHMEM_TEAM_INVALID) {
        shmem_atomic_add(twos.ctx, &sum, 100 * from_before[2] + from_before[3], 0);
    }
    shmem_ctx_quiet(twos.ctx);
    CHECK_EQUAL(shmem_team_sync(SHMEM_TEAM_WORLD), 0);
    if (shmem_my_pe() == 0) {
        int right = 0;
        for (int pe = 0; pe < n; pe += 6) right += pe == 0 ? 100 * twos.size + threes.size : 100 * (pe / 2) + pe / 3;
        CHECK_EQUAL(sum, right);
    }
    close_circle(&threes);
    close_circle(&twos);
    shmem_finalize();
    return api_result();
}
