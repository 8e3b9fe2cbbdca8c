/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain stores to symmetric memory are ordered by fence and by quiet like puts: stores into a peer's memory through shmem_ptr
 * before a flag that is put to the same PE; stores to the own memory, after quiet, before a third PE that was told reads them by
 * get.
 * Spec: OpenSHMEM 1.6 §9.12 Memory Ordering Routines, §9.12.1 shmem_fence, §9.12.2 shmem_quiet
 * PES: 2 3
 */
#include "../api.h"

enum { ROUNDS = 300, COUNT = 64 };

static long data[COUNT], own[COUNT], flag, told, taken;

/* Through an address of the peer's memory, where there is one. */
static void store_and_fence(int next, long round)
{
    long *there = shmem_ptr(data, next);
    if (there) {
        for (int i = 0; i < COUNT; i++) ((volatile long *)there)[i] = round + i;
        if (round % 2) shmem_fence();
        else shmem_quiet();
    }
    shmem_long_p(&flag, round, next);
    shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round);
    if (shmem_ptr(data, (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes()))
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(data[i], round + i);
}

static void store_and_quiet(int next, int before, long round)
{
    long got[COUNT];
    for (int i = 0; i < COUNT; i++) ((volatile long *)own)[i] = round * 2 + i;
    shmem_quiet();
    shmem_long_atomic_set(&told, round, next);
    shmem_long_wait_until(&told, SHMEM_CMP_EQ, round);
    shmem_long_get(got, own, COUNT, before);
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(got[i], round * 2 + i);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        store_and_fence(next, round);
        store_and_quiet(next, before, round);
        shmem_long_atomic_set(&taken, round, before); /* the PE before may store again */
        shmem_long_wait_until(&taken, SHMEM_CMP_EQ, round);
    }
    shmem_finalize();
    return api_result();
}
