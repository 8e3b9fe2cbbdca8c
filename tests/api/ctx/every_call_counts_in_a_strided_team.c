/* SPDX-License-Identifier: Apache-2.0
 *
 * PE numbers on a context are those of its team in every family of calls: here of teams that turn the world's order round, leave
 * PEs out, or were split from such a team, so that each number means another PE than in the world.
 * Spec: OpenSHMEM 1.6 §9.5 Communication Management Routines, §9.5.2 shmem_team_create_ctx, §9.5.4 shmem_ctx_get_team
 * Spec: OpenSHMEM 1.6 §9.12.3 shmem_pe_quiet
 * PES: 2 3 5
 */
#include "../api.h"

enum { COUNT = 12 };

static long     cells[COUNT], source[COUNT], amo[16], answers[4];
static uint64_t signals[4];

/* One word per call, toward member `to`: what arrives tells call and sender. */
static void send(shmem_ctx_t ctx, int to, long mark)
{
    for (int i = 0; i < COUNT; i++) source[i] = mark + i;
    shmem_ctx_long_put(ctx, &cells[0], &source[0], 1, to);
    shmem_ctx_long_p(ctx, &cells[1], mark + 1, to);
    shmem_ctx_long_iput(ctx, &cells[2], &source[2], 1, 1, 1, to);
    shmem_ctx_long_ibput(ctx, &cells[3], &source[3], 1, 1, 1, 1, to);
    shmem_ctx_long_put_nbi(ctx, &cells[4], &source[4], 1, to);
    shmem_ctx_putmem(ctx, &cells[5], &source[5], sizeof(long), to);
    shmem_ctx_put64(ctx, &cells[6], &source[6], 1, to);
    shmem_ctx_putmem_nbi(ctx, &cells[7], &source[7], sizeof(long), to);
    shmem_ctx_long_put_signal(ctx, &cells[8], &source[8], 1, &signals[0], (uint64_t)mark, SHMEM_SIGNAL_SET, to);
    shmem_ctx_putmem_signal_nbi(ctx, &cells[9], &source[9], sizeof(long), &signals[1], (uint64_t)mark, SHMEM_SIGNAL_SET, to);
    shmem_ctx_signal_set(ctx, &signals[2], (uint64_t)mark, to);
    shmem_ctx_signal_add(ctx, &signals[3], (uint64_t)mark, to);
    shmem_ctx_iput64(ctx, &cells[10], &source[10], 1, 1, 1, to);
    shmem_ctx_ibput64(ctx, &cells[11], &source[11], 1, 1, 1, 1, to);
    shmem_ctx_pe_quiet(ctx, &to, 1);
}

static void update(shmem_ctx_t ctx, int to, long mark)
{
    shmem_ctx_long_atomic_set(ctx, &amo[0], mark, to);
    shmem_ctx_long_atomic_add(ctx, &amo[1], mark, to);
    shmem_ctx_long_atomic_inc(ctx, &amo[2], to);
    shmem_ctx_ulong_atomic_or(ctx, (unsigned long *)&amo[3], (unsigned long)mark, to);
    shmem_ctx_ulong_atomic_xor(ctx, (unsigned long *)&amo[4], (unsigned long)mark, to);
    shmem_ctx_ulong_atomic_and(ctx, (unsigned long *)&amo[5], 0, to);
    CHECK_EQUAL(shmem_ctx_long_atomic_swap(ctx, &amo[6], mark, to), 0);
    CHECK_EQUAL(shmem_ctx_long_atomic_compare_swap(ctx, &amo[7], 0, mark, to), 0);
    CHECK_EQUAL(shmem_ctx_long_atomic_fetch_add(ctx, &amo[8], mark, to), 0);
    CHECK_EQUAL(shmem_ctx_long_atomic_fetch_inc(ctx, &amo[9], to), 0);
    shmem_ctx_long_atomic_fetch_nbi(ctx, &answers[0], &amo[0], to);
    shmem_ctx_long_atomic_fetch_add_nbi(ctx, &answers[1], &amo[10], mark, to);
    shmem_ctx_long_atomic_swap_nbi(ctx, &answers[2], &amo[11], mark, to);
    shmem_ctx_long_atomic_compare_swap_nbi(ctx, &answers[3], &amo[12], 0, mark, to);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(shmem_ctx_long_atomic_fetch(ctx, &amo[0], to), mark);
}

static void fetch(shmem_ctx_t ctx, int to, long mark)
{
    long got[8] = {0};
    shmem_ctx_long_get(ctx, &got[0], &cells[0], 1, to);
    got[1] = shmem_ctx_long_g(ctx, &cells[1], to);
    shmem_ctx_long_iget(ctx, &got[2], &cells[2], 1, 1, 1, to);
    shmem_ctx_long_ibget(ctx, &got[3], &cells[3], 1, 1, 1, 1, to);
    shmem_ctx_long_get_nbi(ctx, &got[4], &cells[4], 1, to);
    shmem_ctx_getmem(ctx, &got[5], &cells[5], sizeof(long), to);
    shmem_ctx_get64(ctx, &got[6], &cells[6], 1, to);
    shmem_ctx_getmem_nbi(ctx, &got[7], &cells[7], sizeof(long), to);
    shmem_ctx_quiet(ctx);
    for (int i = 0; i < 8; i++) CHECK_EQUAL(got[i], mark + i);
}

/* What has come here from `before`, told by its mark. */
static void look(long mark)
{
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(cells[i], mark + i);
    for (int i = 0; i < 4; i++) CHECK_EQUAL(signals[i], mark);
    const long wanted[13] = {mark, mark, 1, mark, mark, 0, mark, mark, mark, 1, mark, mark, mark};
    for (int i = 0; i < 13; i++) CHECK_EQUAL(amo[i], wanted[i]);
}

/* All members at once, each toward the next one of the team. Collective over the world. */
static void round_of(shmem_team_t team, const char *name)
{
    memset(cells, 0, sizeof cells);
    memset(amo, 0, sizeof amo);
    memset(signals, 0, sizeof signals);
    amo[5] = -1;
    shmem_barrier_all();
    int  me = shmem_team_my_pe(team), size = shmem_team_n_pes(team);
    long mark = 1000000 + 1000 * (me + 1), before = me < 0 ? 0 : 1000000 + 1000 * ((me + size - 1) % size + 1);
    if (me >= 0) {
        shmem_ctx_t  ctx;
        shmem_team_t same;
        int          to = (me + 1) % size;
        CHECK_EQUAL(shmem_team_create_ctx(team, 0, &ctx), 0);
        CHECK(shmem_ctx_get_team(ctx, &same) == 0 && same == team);
        send(ctx, to, mark);
        update(ctx, to, mark);
        fetch(ctx, to, mark);
        shmem_ctx_destroy(ctx);
    }
    shmem_barrier_all();
    if (me >= 0) look(before);
    else CHECK(cells[0] == 0 && amo[0] == 0 && signals[0] == 0);
    if (atomic_load(&api_failures)) fprintf(stderr, "... up to team %s\n", name);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes();
    shmem_team_t turned, every_second, part = SHMEM_TEAM_INVALID;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &turned), 0);
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 2, n / 2, NULL, 0, &every_second), 0);
    CHECK_EQUAL(shmem_team_split_strided(turned, 1, 1, n - 1, NULL, 0, &part), 0);
    round_of(SHMEM_TEAM_WORLD, "world");
    round_of(turned, "turned round");
    round_of(every_second, "every second");
    round_of(part, "of the turned one, all but the first");
    shmem_finalize();
    return api_result();
}
