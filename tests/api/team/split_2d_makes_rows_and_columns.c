/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_team_split_2d: x is the number modulo xrange, y is it divided by xrange; the x team is the row, where one's number is x,
 * the y team the column, where it is y. The last row may be short; an xrange above the size counts as the size; one below 1 is
 * refused. Of the world, and of a team that turns it round.
 * Spec: OpenSHMEM 1.6 §9.4.7 shmem_team_split_2d
 * PES: 1 2 3 5
 */
#include "../api.h"

static long words[8];

/* The members by name: PE x of row y. */
static void compare(shmem_team_t parent, int xrange, shmem_team_t row, shmem_team_t column)
{
    int n = shmem_team_n_pes(parent), me = shmem_team_my_pe(parent), width = xrange < n ? xrange : n;
    int x = me % width, y = me / width, height = (n + width - 1) / width;
    int in_row = y == height - 1 ? n - y * width : width, in_column = height - (x + (height - 1) * width >= n);
    CHECK_EQUAL(shmem_team_my_pe(row), x);
    CHECK_EQUAL(shmem_team_my_pe(column), y);
    CHECK_EQUAL(shmem_team_n_pes(row), in_row);
    CHECK_EQUAL(shmem_team_n_pes(column), in_column);
    for (int i = 0; i < in_row; i++) CHECK_EQUAL(shmem_team_translate_pe(row, i, parent), y * width + i);
    for (int i = 0; i < in_column; i++) CHECK_EQUAL(shmem_team_translate_pe(column, i, parent), i * width + x);
}

/* At once after the split, in both. */
static void talk(shmem_team_t team)
{
    shmem_ctx_t ctx;
    int         me = shmem_team_my_pe(team), n = shmem_team_n_pes(team), before = (me + n - 1) % n;
    CHECK_EQUAL(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_long_p(ctx, &words[me], me + 1, (me + 1) % n);
    shmem_ctx_quiet(ctx);
    CHECK_EQUAL(shmem_team_sync(team), 0);
    CHECK_EQUAL(words[before], before + 1);
    CHECK_EQUAL(shmem_team_sync(team), 0);
    words[before] = 0;
    shmem_ctx_destroy(ctx);
}

static void split(shmem_team_t parent, int xrange)
{
    shmem_team_t row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    if (!CHECK_EQUAL(shmem_team_split_2d(parent, xrange, NULL, 0, &row, NULL, 0, &column), 0)) return;
    compare(parent, xrange, row, column);
    talk(row);
    CHECK_EQUAL(shmem_team_sync(parent), 0); /* words is used again */
    talk(column);
    CHECK_EQUAL(shmem_team_sync(parent), 0);
    shmem_team_destroy(column);
    shmem_team_destroy(row);
}

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes();
    shmem_team_t turned, row = SHMEM_TEAM_WORLD, column = SHMEM_TEAM_WORLD;
    CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, n - 1, -1, n, NULL, 0, &turned), 0);
    for (int xrange = 1; xrange <= n + 2; xrange++) {
        split(SHMEM_TEAM_WORLD, xrange);
        split(turned, xrange);
    }
    split(SHMEM_TEAM_WORLD, 1 << 30);
    for (int xrange = -1; xrange <= 0; xrange++) {
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, xrange, NULL, 0, &row, NULL, 0, &column) != 0);
        CHECK(row == SHMEM_TEAM_INVALID && column == SHMEM_TEAM_INVALID);
    }
    shmem_finalize();
    return api_result();
}
