/* SPDX-License-Identifier: Apache-2.0
 *
 * Every collective that moves data, with blocks of no bytes, one, an odd number, around what a box carries (112 and 120 bytes), and too large for
 * the caches' smallest; broadcasts from every root. Nothing but the blocks is written.
 *
 * PES: 1 2 3 5 8 16
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.6 shmem_alltoalls, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect
 */
#include "movers.h"

static const size_t sizes[] = {0, 1, 7, 8, 15, 16, 17, 60, 111, 112, 113, 119, 120, 121, 128, 1000, 4099, 20001};

static void from_each_root(struct movers *m, size_t bytes)
{
    for (int root = 0; root < shmem_n_pes(); root++) move_broadcast(m, SHMEM_TEAM_WORLD, bytes, root);
}

static void with_strides(struct movers *m, size_t nelems)
{
    static const ptrdiff_t strides[][2] = {{1, 1}, {1, 2}, {2, 1}, {3, 2}, {5, 7}};
    for (size_t i = 0; i < sizeof strides / sizeof strides[0]; i++)
        move_alltoalls(m, SHMEM_TEAM_WORLD, nelems, strides[i][0], strides[i][1]);
}

int main(void)
{
    shmem_init();
    struct movers m = movers_create();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        from_each_root(&m, sizes[i]);
        move_fcollect(&m, SHMEM_TEAM_WORLD, sizes[i]);
        move_collect(&m, SHMEM_TEAM_WORLD, sizes[i]);
        move_alltoall(&m, SHMEM_TEAM_WORLD, sizes[i]);
        with_strides(&m, sizes[i] / 8);
    }
    CHECK(m.calls > 18 * 8);
    movers_destroy(&m);
    shmem_finalize();
    return api_result();
}
