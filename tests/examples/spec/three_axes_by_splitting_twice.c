/* SPDX-License-Identifier: Apache-2.0
 *
 * PEs in a block of three axes: a split into lines and planes, then each plane into lines and columns. Every PE finds its place,
 * and one axis after the other a sum runs along the lines.
 * Spec: OpenSHMEM 1.6 §9.4.7 shmem_team_split_2d, §9.4.8 shmem_team_destroy
 * Does what the specification's shmem_team_split_2D does.
 * PES: 2 4 6
 */
#include "../../api/api.h"

static int mine, along;

/* The largest divisor of count that is at most limit. */
static int divisor(int count, int limit)
{
    while (count % limit != 0) limit--;
    return limit;
}

static int sum_along(shmem_team_t line, int value)
{
    mine = value;
    CHECK_EQUAL(shmem_sum_reduce(line, &along, &mine, 1), 0);
    return along;
}

int main(void)
{
    shmem_init();
    int          n = shmem_n_pes(), me = shmem_my_pe();
    int          width = divisor(n, 2), height = divisor(n / width, 2), depth = n / width / height;
    shmem_team_t x, plane, y, z;
    CHECK_EQUAL(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &x, NULL, 0, &plane), 0);
    CHECK_EQUAL(shmem_team_split_2d(plane, height, NULL, 0, &y, NULL, 0, &z), 0);
    shmem_team_destroy(plane); /* those made from it stay */

    CHECK_EQUAL(shmem_team_n_pes(x), width);
    CHECK_EQUAL(shmem_team_n_pes(y), height);
    CHECK_EQUAL(shmem_team_n_pes(z), depth);
    int place_x = shmem_team_my_pe(x), place_y = shmem_team_my_pe(y), place_z = shmem_team_my_pe(z);
    CHECK_EQUAL((place_z * height + place_y) * width + place_x, me);

    int total = sum_along(z, sum_along(y, sum_along(x, 1 << me)));
    CHECK_EQUAL(total, (1 << n) - 1); /* each PE once */

    shmem_team_destroy(z);
    shmem_team_destroy(y);
    shmem_team_destroy(x);
    shmem_finalize();
    return api_result();
}
