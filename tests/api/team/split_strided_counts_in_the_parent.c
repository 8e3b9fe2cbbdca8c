/* SPDX-License-Identifier: Apache-2.0
 *
 * Member i of a new team is PE start + i * stride of the parent, whatever the parent is: the world, a part of it, or one that
 * turns it round; with strides above 1 and below 0, and stride 0 for one PE. Members of the parent that are left out get no team
 * and 0. All triplets of each parent are tried, and the members are compared with those of a model, by translation and by what
 * they send one another.
 * Spec: OpenSHMEM 1.6 §9.4 Team Management Routines, §9.4.1 to §9.4.2, §9.4.5 shmem_team_translate_pe
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided
 * PES: 1 2 3 5
 */
#include "../api.h"

enum { PES_MAX = 8 };

/* World numbers of a team's members, as they should be. */
struct model {
    int size, pes[PES_MAX];
};

static long words[PES_MAX];

static int place_of(const struct model *team, int world)
{
    for (int i = 0; i < team->size; i++)
        if (team->pes[i] == world) return i;
    return -1;
}

static bool compare(shmem_team_t team, const struct model *model)
{
    int  me = shmem_my_pe(), n = shmem_n_pes(), mine = place_of(model, me);
    bool right = CHECK_EQUAL(team == SHMEM_TEAM_INVALID, mine < 0);
    right      = CHECK_EQUAL(shmem_team_my_pe(team), mine) && right;
    right      = CHECK_EQUAL(shmem_team_n_pes(team), mine < 0 ? -1 : model->size) && right;
    if (mine < 0) return right;
    for (int world = 0; world < n; world++)
        right = CHECK_EQUAL(shmem_team_translate_pe(SHMEM_TEAM_WORLD, world, team), place_of(model, world)) && right;
    for (int i = 0; i < model->size; i++)
        right = CHECK_EQUAL(shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD), model->pes[i]) && right;
    right = CHECK_EQUAL(shmem_team_translate_pe(team, model->size, SHMEM_TEAM_WORLD), -1) && right;
    return CHECK_EQUAL(shmem_team_translate_pe(team, -1, SHMEM_TEAM_WORLD), -1) && right;
}

/* Each member puts its number to the next, counted in the team. */
static bool talk(shmem_team_t team, const struct model *model)
{
    shmem_ctx_t ctx;
    int         mine = place_of(model, shmem_my_pe()), size = model->size, before = (mine + size - 1) % size;
    CHECK_EQUAL(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_long_p(ctx, &words[mine], mine + 1, (mine + 1) % size);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(shmem_team_sync(team), 0);
    bool right    = CHECK_EQUAL(words[before], before + 1);
    words[before] = 0;
    shmem_ctx_destroy(ctx);
    CHECK_EQUAL(shmem_team_sync(team), 0);
    return right;
}

static void split_all(shmem_team_t parent, const struct model *model, int depth);

static void split_once(shmem_team_t parent, const struct model *model, int start, int stride, int size, int depth)
{
    shmem_team_t team   = SHMEM_TEAM_WORLD; /* must be overwritten */
    struct model wanted = {.size = size};
    for (int i = 0; i < size; i++) wanted.pes[i] = model->pes[start + i * stride];
    bool right = CHECK_EQUAL(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team), 0) && compare(team, &wanted);
    if (team != SHMEM_TEAM_INVALID) {
        right = talk(team, &wanted) && right;
        if (depth > 0 && size > 1) split_all(team, &wanted, depth - 1);
        shmem_team_destroy(team);
    }
    if (!right) fprintf(stderr, "... start %d, stride %d, size %d of a team of %d\n", start, stride, size, model->size);
}

static void split_all(shmem_team_t parent, const struct model *model, int depth)
{
    int n = model->size;
    for (int start = 0; start < n; start++)
        for (int stride = -n; stride <= n; stride++)
            for (int size = 1; size <= n; size++) {
                int last = start + (size - 1) * stride;
                if (last < 0 || last >= n || (stride == 0 && size > 1)) continue;
                if (depth > 0 && size < n - 1) continue; /* of teams whose parts are tried too, the big ones */
                split_once(parent, model, start, stride, size, depth);
            }
}

int main(void)
{
    struct model world = {0};
    shmem_init();
    world.size = shmem_n_pes();
    for (int i = 0; i < world.size; i++) world.pes[i] = i;
    split_all(SHMEM_TEAM_WORLD, &world, 0);
    split_all(SHMEM_TEAM_WORLD, &world, 1);
    shmem_finalize();
    return api_result();
}
