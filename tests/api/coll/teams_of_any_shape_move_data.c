/* SPDX-License-Identifier: Apache-2.0
 *
 * Every collective that moves data on teams that do not begin at PE 0, are strided, reversed, or parts of parts; teams that overlap, and the
 * parts of a split by two ranges, at the same time.
 *
 * PES: 1 3 4 5 8 9
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10 Collective Routines, §9.4.6 shmem_team_split_strided, §9.4.7 shmem_team_split_2d
 */
#include "movers.h"

static const size_t sizes[] = {1, 8, 100, 600, 9000};

static void use(struct movers *m, shmem_team_t team)
{
    if (team != SHMEM_TEAM_INVALID)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) move_all(m, team, sizes[i]);
    movers_reset(m);
}

static shmem_team_t split(shmem_team_t parent, int start, int stride, int size)
{
    shmem_team_t team;
    CHECK_EQUAL(shmem_team_split_strided(parent, start, stride, size, NULL, 0, &team), 0);
    return team;
}

int main(void)
{
    shmem_init();
    int           n = shmem_n_pes();
    struct movers m = movers_create();
    use(&m, SHMEM_TEAM_SHARED);
    shmem_team_t reversed = split(SHMEM_TEAM_WORLD, n - 1, -1, n), tail = split(SHMEM_TEAM_WORLD, n / 2, 1, n - n / 2),
                 every_other = split(SHMEM_TEAM_WORLD, n > 1, 2, n > 1 ? n / 2 : 1), part_of_part = SHMEM_TEAM_INVALID;
    int size = shmem_team_n_pes(tail);
    if (tail != SHMEM_TEAM_INVALID) part_of_part = split(tail, size - 1, -1, size > 1 ? size - 1 : 1);
    use(&m, reversed);
    use(&m, tail);
    use(&m, every_other);
    use(&m, part_of_part);

    shmem_team_t row, column;
    CHECK_EQUAL(shmem_team_split_2d(reversed, 2, NULL, 0, &row, NULL, 0, &column), 0);
    use(&m, row); /* the rows at the same time */
    use(&m, column);

    /* Calls on overlapping teams in turn. */
    for (int i = 0; i < 5; i++) {
        movers_reset(&m);
        move_fcollect(&m, reversed, 40);
        move_fcollect(&m, SHMEM_TEAM_WORLD, 40);
        move_fcollect(&m, row, 40); /* last: rows of another size take another piece */
    }
    shmem_team_destroy(part_of_part);
    shmem_team_destroy(column);
    shmem_team_destroy(row);
    shmem_team_destroy(every_other);
    shmem_team_destroy(tail);
    shmem_team_destroy(reversed);
    movers_destroy(&m);
    shmem_finalize();
    return api_result();
}
