/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts, one fence, flags, to near and far PEs mixed: who sees a flag reads the data that its sender had put before the fence, although near
 * operations are stores and far ones are under way. Also where the data and the flag take different forms (put, atomic, p).
 * Spec: OpenSHMEM 1.6 §9.12.1 shmem_fence
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

enum { ROUNDS = 30, COUNT = 60 };

static long data[NODES_PES_MAX][COUNT], extra[NODES_PES_MAX], flags[NODES_PES_MAX];

static void send(long round, int pe, const long *values)
{
    int me = shmem_my_pe();
    if (round % 2) shmem_long_put_nbi(data[me], values, COUNT, pe);
    else shmem_long_iput(data[me], values, 1, 1, COUNT, pe);
    shmem_long_atomic_add(&extra[me], 1, pe);
}

int main(void)
{
    shmem_init();
    int         me = shmem_my_pe(), n = shmem_n_pes();
    static long values[ROUNDS + 1][COUNT]; /* a row a round: nonblocking puts read it until the barrier */
    for (long round = 1; round <= ROUNDS; round++) {
        for (long i = 0; i < COUNT; i++) values[round][i] = 1000 * round + 7 * me + i;
        for (int pe = 0; pe < n; pe++) send(round, pe, values[round]);
        shmem_fence();
        for (int pe = 0; pe < n; pe++) {
            if (round % 3) shmem_long_p(&flags[me], round, pe);
            else shmem_long_atomic_set(&flags[me], round, pe);
        }
        for (int pe = 0; pe < n; pe++) {
            shmem_long_wait_until(&flags[pe], SHMEM_CMP_GE, round);
            CHECK_EQUAL(shmem_long_atomic_fetch(&extra[pe], me), round);
            for (long i = 0; i < COUNT; i++)
                if (!CHECK_EQUAL(data[pe][i], 1000 * round + 7 * pe + i)) break;
        }
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
