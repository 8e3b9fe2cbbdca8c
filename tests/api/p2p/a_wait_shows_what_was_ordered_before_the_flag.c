/* SPDX-License-Identifier: Apache-2.0
 *
 * Put, fence, flag: who has waited or tested for the flag reads the data, with each of the waits and tests.
 * Spec: OpenSHMEM 1.6 §9.11 Point-To-Point Synchronization Routines, §9.12.4 Synchronization and Communication Ordering
 */
#include "../api.h"

enum { ROUNDS = 200, COUNT = 100 };

static long data[COUNT], flag, taken;

static void await(long round)
{
    size_t index;
    switch (round % 7) {
    case 0: shmem_long_wait_until(&flag, SHMEM_CMP_EQ, round); break;
    case 1: shmem_long_wait_until_all(&flag, 1, NULL, SHMEM_CMP_GE, round); break;
    case 2: (void)shmem_long_wait_until_any(&flag, 1, NULL, SHMEM_CMP_EQ, round); break;
    case 3: (void)shmem_long_wait_until_some(&flag, 1, &index, NULL, SHMEM_CMP_EQ, round); break;
    case 4:
        while (!shmem_long_test(&flag, SHMEM_CMP_EQ, round)) continue;
        break;
    case 5:
        while (!shmem_long_test_all_vector(&flag, 1, NULL, SHMEM_CMP_EQ, &round)) continue;
        break;
    default:
        while (shmem_long_test_any(&flag, 1, NULL, SHMEM_CMP_EQ, round) == SIZE_MAX) continue;
        break;
    }
}

int main(void)
{
    shmem_init();
    int  me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    long values[COUNT];
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        for (int i = 0; i < COUNT; i++) values[i] = round * 1000 + i;
        shmem_long_put(data, values, COUNT, next);
        shmem_fence();
        if (round % 2) shmem_long_atomic_set(&flag, round, next);
        else shmem_long_p(&flag, round, next);
        await(round);
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(data[i], round * 1000 + i);
        shmem_long_atomic_inc(&taken, before);
        shmem_long_wait_until(&taken, SHMEM_CMP_GE, round);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
