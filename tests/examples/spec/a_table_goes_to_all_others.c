/* SPDX-License-Identifier: Apache-2.0
 *
 * PE 0 makes a table and gives it to all others, and they print it, one at a time: a lock keeps the lines whole.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put, §9.13.1 shmem_set_lock
 * Does what the specification's writing_shmem_example does.
 * OUTPUT: PE 1: 0 1 4 9 16 25 36 49 64 81
 * OUTPUT: PE 2: 0 1 4 9 16 25 36 49 64 81
 * PES: 3
 */
#include "../../api/api.h"

enum { COUNT = 10 };
static short table[COUNT];
static long  printer;

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (me == 0) {
        short squares[COUNT];
        for (int i = 0; i < COUNT; i++) squares[i] = (short)(i * i);
        for (int pe = 1; pe < n; pe++) shmem_put(table, squares, COUNT, pe);
    }
    shmem_barrier_all();
    if (me != 0) {
        shmem_set_lock(&printer);
        printf("PE %d:", me);
        for (int i = 0; i < COUNT; i++) {
            printf(" %d", table[i]);
            CHECK_EQUAL(table[i], i * i);
        }
        printf("\n");
        fflush(stdout);
        shmem_clear_lock(&printer);
    }
    shmem_finalize();
    return api_result();
}
