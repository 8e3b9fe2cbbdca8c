/* SPDX-License-Identifier: Apache-2.0
 *
 * Teams that do not begin at PE 0, with strides, in reverse, parts of parts, of one member, and disjoint ones at the same
 * time: numbers are those of the team, and only members take part.
 * Spec: OpenSHMEM 1.6 §9.4 Team Management Routines, §9.10.9 Reductions, §9.10.10 Scans
 * PES: 1 2 3 4 5 8
 */
#include "ways.h"

enum { ELEMS_MAX = 700 };

static const size_t sizes[] = {1, 15, 16, ELEMS_MAX};

/* More than any team has: dest must not be touched by calls of other teams. */
static long source[ELEMS_MAX], dest[ELEMS_MAX];

static long value(int world_pe, size_t i)
{
    return (long)(ways_bits((uint64_t)world_pe, i) >> 4);
}

static long value_of_member(shmem_team_t team, int member, size_t i)
{
    return value(shmem_team_translate_pe(team, member, SHMEM_TEAM_WORLD), i);
}

static void check(shmem_team_t team, size_t n, int end)
{
    for (size_t i = 0; i < n; i++) {
        long wanted = 0;
        for (int member = 0; member < end; member++) wanted += value_of_member(team, member, i);
        if (!CHECK_EQUAL(dest[i], wanted)) return;
    }
}

static void use(shmem_team_t team)
{
    if (team == SHMEM_TEAM_INVALID) return;
    int me = shmem_team_my_pe(team), members = shmem_team_n_pes(team);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        size_t n = sizes[k];
        for (size_t i = 0; i < n; i++) source[i] = value(shmem_my_pe(), i);
        CHECK_EQUAL(shmem_long_sum_reduce(team, dest, source, n), 0);
        check(team, n, members);
        shmem_team_sync(team);
        CHECK_EQUAL(shmem_long_sum_inscan(team, dest, source, n), 0);
        check(team, n, me + 1);
        shmem_team_sync(team);
        CHECK_EQUAL(shmem_long_sum_exscan(team, dest, source, n), 0);
        check(team, n, me);
        shmem_team_sync(team);
    }
}

/* Split, use, and split the part again. */
static void part(shmem_team_t parent, int start, int stride, int size, int depth)
{
    shmem_team_t team;
    CHECK_EQUAL(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team), 0);
    use(team);
    if (depth > 0 && team != SHMEM_TEAM_INVALID) {
        part(team, size - 1, -1, size, depth - 1);
        part(team, size / 2, 1, size - size / 2, depth - 1);
    }
    shmem_team_destroy(team);
}

static void try_all(void)
{
    int          n = shmem_n_pes();
    shmem_team_t row, column;
    part(SHMEM_TEAM_WORLD, 0, 1, n, 0);
    part(SHMEM_TEAM_WORLD, n - 1, -1, n, 1);
    part(SHMEM_TEAM_WORLD, n - 1, 1, 1, 0);
    if (n > 1) part(SHMEM_TEAM_WORLD, 1, 1, n - 1, 1);
    part(SHMEM_TEAM_WORLD, 0, 2, (n + 1) / 2, 1);
    if (n > 1) part(SHMEM_TEAM_WORLD, 1, 2, n / 2, 1);
    CHECK_EQUAL(shmem_team_split_2d(SHMEM_TEAM_WORLD, 2, NULL, 0, &row, NULL, 0, &column), 0);
    use(row);
    use(column);
    use(SHMEM_TEAM_SHARED);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
    shmem_sync_all();
}

int main(void)
{
    ways_each(try_all);
    return api_result();
}
