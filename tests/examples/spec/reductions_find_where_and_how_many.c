/* SPDX-License-Identifier: Apache-2.0
 *
 * Which places of a list hold a multiple of seven on any PE, and how many there are on all: an or over flags, a sum over a count,
 * and the largest and smallest of them by max and min.
 * Spec: OpenSHMEM 1.6 §9.10.9.2 shmem_or_reduce, §9.10.9.4 shmem_max_reduce
 * Spec: OpenSHMEM 1.6 §9.10.9.5 shmem_min_reduce, §9.10.9.6 shmem_sum_reduce
 * Does what the specification's shmem_reduce_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { COUNT = 40 };
static unsigned char here[COUNT], anywhere[COUNT];
static int           count, total, highest, lowest, best, least;

static int value(int pe, int i)
{
    return (pe * 13 + i * 5 + 4) % 50 + 3;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    lowest = 1000;
    for (int i = 0; i < COUNT; i++) {
        int v   = value(me, i);
        here[i] = v % 7 == 0;
        count += here[i];
        if (v > highest) highest = v;
        if (v < lowest) lowest = v;
    }
    CHECK_EQUAL(shmem_or_reduce(SHMEM_TEAM_WORLD, anywhere, here, COUNT), 0);
    CHECK_EQUAL(shmem_sum_reduce(SHMEM_TEAM_WORLD, &total, &count, 1), 0);
    CHECK_EQUAL(shmem_max_reduce(SHMEM_TEAM_WORLD, &best, &highest, 1), 0);
    CHECK_EQUAL(shmem_min_reduce(SHMEM_TEAM_WORLD, &least, &lowest, 1), 0);

    int right_total = 0, right_best = 0, right_least = 1000;
    for (int i = 0; i < COUNT; i++) {
        int any = 0;
        for (int pe = 0; pe < n; pe++) {
            int v = value(pe, i);
            any |= v % 7 == 0;
            right_total += v % 7 == 0;
            if (v > right_best) right_best = v;
            if (v < right_least) right_least = v;
        }
        CHECK_EQUAL(anywhere[i], any);
    }
    CHECK_EQUAL(total, right_total);
    CHECK_EQUAL(best, right_best);
    CHECK_EQUAL(least, right_least);
    shmem_finalize();
    return api_result();
}
