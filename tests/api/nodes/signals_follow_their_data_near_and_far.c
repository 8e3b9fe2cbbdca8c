/* SPDX-License-Identifier: Apache-2.0
 *
 * put_signal from every PE to every PE, near and far, blocking and not, SET and ADD: who sees the signal reads all of its data.
 * Spec: OpenSHMEM 1.6 §9.8.3 shmem_put_signal, §9.8.4 shmem_put_signal_nbi, §9.8.6 shmem_signal_fetch
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

enum { ROUNDS = 24, COUNT = 700 };

static long     data[NODES_PES_MAX][COUNT];
static uint64_t signals[NODES_PES_MAX];

static size_t count_of(long round)
{
    static const size_t counts[] = {1, 8, 9, 300, COUNT, 0};
    return counts[(size_t)round % 6];
}

static void send(long round, int pe, const long *values)
{
    int me = shmem_my_pe();
    /* Both make the word `round`. */
    int      op    = round % 2 ? SHMEM_SIGNAL_SET : SHMEM_SIGNAL_ADD;
    uint64_t value = round % 2 ? (uint64_t)round : 1;
    if (round % 4 < 2) shmem_long_put_signal(data[me], values, count_of(round), &signals[me], value, op, pe);
    else shmem_long_put_signal_nbi(data[me], values, count_of(round), &signals[me], value, op, pe);
}

int main(void)
{
    shmem_init();
    int         me = shmem_my_pe(), n = shmem_n_pes();
    static long values[COUNT];
    for (long round = 1; round <= ROUNDS; round++) {
        for (long i = 0; i < COUNT; i++) values[i] = 10000 * round + 13 * me + i;
        for (int pe = 0; pe < n; pe++) send(round, pe, values);
        for (int pe = 0; pe < n; pe++) {
            CHECK_EQUAL(shmem_signal_wait_until(&signals[pe], SHMEM_CMP_GE, (uint64_t)round), round);
            for (size_t i = 0; i < count_of(round); i++)
                if (!CHECK_EQUAL(data[pe][i], 10000 * round + 13 * pe + (long)i)) break;
        }
        CHECK_EQUAL(shmem_signal_fetch(&signals[me]), round);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
