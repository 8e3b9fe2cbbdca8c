/* SPDX-License-Identifier: Apache-2.0
 *
 * Two atomic operations of one PE on one word of mapped memory happen in the order of the program, without a fence between.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.7 Atomic Memory Operations; gap: program order is our choice
 * NOCHAOS: program order is kept on mapped routes only, a transport may reorder
 */
#include "../api.h"

enum { ROUNDS = 300 };

static long word;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_barrier_all();
    for (long i = 0; i < ROUNDS; i++) {
        shmem_long_atomic_set(&word, i, next);
        shmem_long_atomic_add(&word, 1000000, next);
        CHECK_EQUAL(shmem_long_atomic_fetch_inc(&word, next), 1000000 + i);
        shmem_long_atomic_set(&word, 5, next);
        shmem_long_atomic_set(&word, -i, next);
        CHECK_EQUAL(shmem_long_atomic_fetch(&word, next), -i);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
