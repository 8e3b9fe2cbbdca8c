/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_ptr and shmem_team_ptr give an address for a PE of the own node, where loads and stores work, and NULL for a PE of another. Objects
 * are accessible on PEs of all nodes all the same.
 * Spec: OpenSHMEM 1.6 §9.1.9 shmem_ptr, §9.1.10 shmem_team_ptr, §9.1.7 shmem_pe_accessible, §9.1.8 shmem_addr_accessible
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

static long words[NODES_PES_MAX];

static void look(long *object)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) {
        long *there = shmem_ptr(object, pe);
        CHECK_EQUAL(there != NULL, nodes_near(pe));
        CHECK(shmem_team_ptr(SHMEM_TEAM_WORLD, object, pe) == there);
        CHECK(shmem_pe_accessible(pe));
        CHECK(shmem_addr_accessible(object, pe));
        CHECK(!shmem_addr_accessible(&me, pe));
        if (there) there[me] = 100 * me + pe;
    }
    for (int i = 0; i < shmem_team_n_pes(SHMEM_TEAM_SHARED); i++)
        CHECK(shmem_team_ptr(SHMEM_TEAM_SHARED, object, i) ==
              shmem_ptr(object, shmem_team_translate_pe(SHMEM_TEAM_SHARED, i, SHMEM_TEAM_WORLD)));
    shmem_barrier_all();
    for (int pe = 0; pe < n; pe++) CHECK_EQUAL(object[pe], nodes_near(pe) ? 100 * pe + me : 0);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    long *block = shmem_calloc(NODES_PES_MAX, sizeof *block);
    if (CHECK(block != NULL)) look(block);
    look(words);
    shmem_finalize();
    return api_result();
}
