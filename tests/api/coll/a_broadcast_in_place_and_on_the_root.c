/* SPDX-License-Identifier: Apache-2.0
 *
 * A team broadcast writes dest on the root as well, and only there may the root's source be the same array. A broadcast over an active set leaves
 * the root's dest as it was.
 *
 * PES: 1 2 3 5
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.7 shmem_broadcast, §F.2.14 Active-set-based collectives
 */
#include "../api.h"

enum { COUNT = 3000 };

static long source[COUNT], dest[COUNT], both[COUNT], set_dest[COUNT], psync[SHMEM_BCAST_SYNC_SIZE];

static void check(const long *is, size_t count, long root)
{
    for (size_t i = 0; i < count; i++)
        if (!CHECK_EQUAL(is[i], root * 10000 + (long)i)) return;
    for (size_t i = count; i < COUNT; i++)
        if (!CHECK_EQUAL(is[i], -1)) return;
}

static void from(int root, size_t count)
{
    int me = shmem_my_pe();
    for (size_t i = 0; i < COUNT; i++) {
        source[i] = i < count ? me * 10000 + (long)i : -5;
        both[i]   = i < count ? me * 10000 + (long)i : -1;
        dest[i] = set_dest[i] = -1;
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, count, root), 0);
    CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, both, both, count, root), 0);
    shmem_broadcast64(set_dest, source, count, root, 0, 0, shmem_n_pes(), psync);
    check(dest, count, root);
    check(both, count, root);
    if (me == root) check(set_dest, 0, root);
    else check(set_dest, count, root);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    for (int i = 0; i < SHMEM_BCAST_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
    static const size_t counts[] = {1, 15, 16, 500, COUNT - 1};
    for (int root = 0; root < shmem_n_pes(); root++)
        for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) from(root, counts[i]);
    shmem_finalize();
    return api_result();
}
