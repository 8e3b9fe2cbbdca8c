/* SPDX-License-Identifier: Apache-2.0
 *
 * A puts to B, calls quiet and tells C: C reads the data at B with a get.
 * Spec: OpenSHMEM 1.6 §9.12.2 shmem_quiet, §9.12.4 Synchronization and Communication Ordering
 * PES: 3 4 8
 * ENV: POSTERN_CHAOS_DELAY=5us
 */
#include "../api.h"

enum { ROUNDS = 150, COUNT = 300 };

static long data[COUNT], told, read_by_c;

int main(void)
{
    static long values[COUNT];
    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS && me < 3; round++) {
        if (me == 0) {
            for (int i = 0; i < COUNT; i++) values[i] = round * 1000 + i;
            shmem_long_put_nbi(data, values, COUNT, 1);
            if (round % 2) shmem_quiet();
            else shmem_pe_quiet((const int[]){2, 1}, 2);
            shmem_long_atomic_set(&told, round, 2);
            shmem_long_wait_until(&read_by_c, SHMEM_CMP_EQ, round);
        } else if (me == 2) {
            long got[COUNT];
            shmem_long_wait_until(&told, SHMEM_CMP_EQ, round);
            shmem_long_get(got, data, COUNT, 1);
            for (int i = 0; i < COUNT; i++) CHECK_EQUAL(got[i], round * 1000 + i);
            shmem_long_atomic_set(&read_by_c, round, 0);
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
