/* SPDX-License-Identifier: Apache-2.0
 *
 * A triplet that no team fits (a member outside of the parent, wrap-around, stride 0 with more than one PE, size below 1) gives
 * nonzero and SHMEM_TEAM_INVALID, the same on all PEs of the parent, and the library works on. One sentence of the standard says
 * nonzero, another undefined.
 * Spec: OpenSHMEM 1.6 §9.4.6 shmem_team_split_strided, §C Undefined Behavior
 * PES: 1 2 3
 */
#include "../api.h"

#include <limits.h>

static long result[8];

int main(void)
{
    shmem_init();
    int       n = shmem_n_pes(), me = shmem_my_pe();
    const int triplets[][3] = {
        {0, 1, 0},
        {0, 1, -1},
        {0, 1, n + 1},
        {n, 1, 1},
        {-1, 1, 1},
        {n - 1, 1, 2},
        {0, -1, 2},
        {0, 0, 2},
        {0, 0, n + 5},
        {0, n, 2},
        {0, INT_MAX, 2},
        {0, INT_MIN, 2},
        {0, 1, INT_MAX},
        {INT_MAX, 1, 1},
        {INT_MIN, 1, 1},
        {n - 1, -1, n + 1},
        {0, INT_MAX, INT_MAX},
        {n - 1, INT_MIN, INT_MAX},
        {n / 2, n / 2 + 1, n > 1 ? n : 2},
        {n + 1, -1, 2},
    };
    for (size_t i = 0; i < sizeof triplets / sizeof triplets[0]; i++) {
        const int   *t    = triplets[i];
        shmem_team_t team = SHMEM_TEAM_WORLD;
        int          how  = shmem_team_split_strided(SHMEM_TEAM_WORLD, t[0], t[1], t[2], NULL, 0, &team);
        bool         fine = CHECK(how != 0 && team == SHMEM_TEAM_INVALID);
        shmem_long_p(&result[me], how, (me + 1) % n);
        shmem_barrier_all();
        fine = CHECK_EQUAL(result[(me + n - 1) % n], how) && fine;
        shmem_barrier_all();
        if (!fine) fprintf(stderr, "... start %d, stride %d, size %d of %d\n", t[0], t[1], t[2], n);
        CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, n, NULL, 0, &team), 0);
        CHECK_EQUAL(shmem_team_sync(team), 0);
        shmem_team_destroy(team);
    }
    shmem_finalize();
    return api_result();
}
