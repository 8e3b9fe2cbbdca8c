/* SPDX-License-Identifier: Apache-2.0
 *
 * A source that a nonblocking call still uses may be read, by the program and by further calls to other PEs, since it was passed
 * as const. What an atomic works on may be read and updated by others meanwhile.
 * Spec: OpenSHMEM 1.6 §4.2 Invoking OpenSHMEM Operations
 * PES: 2 3
 * ENV: POSTERN_CHAOS_DELAY=20us
 */
#include "../api.h"

enum { ROUNDS = 30, COUNT = 900 };

static long source[COUNT], target[8][COUNT], counter;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (long round = 1; round <= ROUNDS; round++) {
        long got = -1;
        for (int i = 0; i < COUNT; i++) source[i] = me * 100000 + round * 1000 + i;
        for (int pe = 0; pe < n; pe++) {
            shmem_long_put_nbi(target[me], source, COUNT, pe);
            shmem_long_atomic_fetch_inc_nbi(&got, &counter, pe);
            shmem_long_atomic_inc(&counter, pe);
            for (int i = 0; i < COUNT; i += 100) CHECK_EQUAL(source[i], me * 100000 + round * 1000 + i);
            CHECK(shmem_long_atomic_fetch(&counter, me) >= 0);
        }
        shmem_barrier_all();
        CHECK(got >= 0);
        for (int pe = 0; pe < n; pe++)
            for (int i = 0; i < COUNT; i++) CHECK_EQUAL(target[pe][i], pe * 100000 + round * 1000 + i);
        CHECK_EQUAL(counter, 2 * n * round);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
