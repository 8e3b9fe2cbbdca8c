/* SPDX-License-Identifier: Apache-2.0
 *
 * One quiet completes puts to near and far PEs alike: a third PE, told after it, near or far from target and sender, reads each of them.
 * Spec: OpenSHMEM 1.6 §9.12.2 shmem_quiet
 * NODES: a,b a:2,b
 * PES: 3 8
 */
#include "nodes.h"

enum { ROUNDS = 40, COUNT = 200, FEW = 4 };

static long data[NODES_PES_MAX][COUNT], told;

/* Few elements are copied when the call is made, and travel later. */
static long count_of(long round)
{
    return round % 4 ? FEW : COUNT;
}

static void look(long round, int writer, int pe)
{
    static long seen[COUNT];
    shmem_long_get(seen, data[writer], (size_t)count_of(round), pe);
    for (long i = 0; i < count_of(round); i++)
        if (!CHECK_EQUAL(seen[i], round * 1000 + writer * 100000 + i)) break;
}

int main(void)
{
    shmem_init();
    int         me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    static long mine[COUNT];
    for (long round = 1; round <= ROUNDS; round++) {
        for (long i = 0; i < COUNT; i++) mine[i] = round * 1000 + me * 100000 + i;
        for (int pe = 0; pe < n; pe++) shmem_long_put_nbi(data[me], mine, (size_t)count_of(round), pe);
        shmem_quiet();
        shmem_long_p(&told, round, next);
        shmem_long_wait_until(&told, SHMEM_CMP_GE, round);
        for (int pe = n - 1; pe >= 0; pe--) look(round, before, pe);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
