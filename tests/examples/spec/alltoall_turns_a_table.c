/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE has a row of a table, cut into a block per PE; afterwards it has a column.
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall
 * Does what the specification's shmem_alltoall_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { COUNT = 3 };

static int64_t cell(int row, int column, int i)
{
    return row * 1000 + column * 10 + i;
}

int main(void)
{
    shmem_init();
    int      me = shmem_my_pe(), n = shmem_n_pes();
    int64_t *row    = shmem_malloc((size_t)n * COUNT * sizeof *row);
    int64_t *column = shmem_malloc((size_t)n * COUNT * sizeof *column);
    if (row == NULL || column == NULL) shmem_global_exit(1);
    for (int pe = 0; pe < n; pe++) {
        for (int i = 0; i < COUNT; i++) {
            row[pe * COUNT + i]    = cell(me, pe, i);
            column[pe * COUNT + i] = -1;
        }
    }
    CHECK_EQUAL(shmem_team_sync(SHMEM_TEAM_WORLD), 0); /* nobody writes a column that is still being prepared */
    CHECK_EQUAL(shmem_int64_alltoall(SHMEM_TEAM_WORLD, column, row, COUNT), 0);
    for (int pe = 0; pe < n; pe++) {
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(column[pe * COUNT + i], cell(pe, me, i));
    }
    shmem_free(column);
    shmem_free(row);
    shmem_finalize();
    return api_result();
}
