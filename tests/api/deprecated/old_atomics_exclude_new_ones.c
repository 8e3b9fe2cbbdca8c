/* SPDX-License-Identifier: Apache-2.0
 *
 * All PEs count on one word of PE 0, by old names and new ones in turn: no update is lost, and each number is handed out once.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.7.1.3 shmem_cswap, §9.7.1.5 shmem_finc, §9.7.1.6 shmem_inc, §9.7.1.7 shmem_fadd,
 * §9.7.1.8 shmem_add, §F.2.12
 * PES: 2 3
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

enum { ROUNDS = 60, PES_MAX = 4 };

static long counter, sum, swapped;
static int  handed_out[2 * ROUNDS * PES_MAX];

static void count_by_cswap(int round)
{
    long seen = shmem_long_fetch(&swapped, 0), before;
    while ((before = round % 2 ? shmem_long_cswap(&swapped, seen, seen + 1, 0)
                               : shmem_long_atomic_compare_swap(&swapped, seen, seen + 1, 0)) != seen)
        seen = before;
}

int main(void)
{
    shmem_init();
    int n = shmem_n_pes();
    for (int round = 0; round < ROUNDS; round++) {
        long first  = round % 2 ? shmem_long_finc(&counter, 0) : shmem_long_atomic_fetch_inc(&counter, 0);
        long second = round % 3 ? shmem_long_fadd(&counter, 1, 0) : shmem_long_atomic_fetch_add(&counter, 1, 0);
        shmem_int_inc(&handed_out[first], 0);
        shmem_int_atomic_inc(&handed_out[second], 0);
        shmem_long_add(&sum, round, 0);
        shmem_long_atomic_add(&sum, -round, 0);
        shmem_long_inc(&sum, 0);
        count_by_cswap(round);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        CHECK_EQUAL(counter, 2L * ROUNDS * n);
        CHECK_EQUAL(sum, (long)ROUNDS * n);
        CHECK_EQUAL(swapped, (long)ROUNDS * n);
        for (int i = 0; i < 2 * ROUNDS * n; i++) CHECK_EQUAL(handed_out[i], 1);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
