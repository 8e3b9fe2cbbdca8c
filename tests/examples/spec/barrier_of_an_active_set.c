/* SPDX-License-Identifier: Apache-2.0
 *
 * The PEs with even numbers pass a number round their ring and meet at a barrier of their own, several times; the others do
 * something else. An active set, as older programs name their PEs: first PE, logarithm of the stride, number, and an array pSync.
 * Spec: OpenSHMEM 1.6 §9.10.2 shmem_barrier, §F.2.15, §F.2.14 Active-set-based library constants and collectives
 * Does what the specification's shmem_barrier_example does.
 * PES: 2 3 5
 */
#include "../../api/api.h"

enum { ROUNDS = 6 };
static int  words[ROUNDS];
static long p_sync[SHMEM_BARRIER_SYNC_SIZE];

int main(void)
{
    for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) p_sync[i] = SHMEM_SYNC_VALUE;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), evens = (n + 1) / 2;
    if (me % 2 == 0) {
        int next = me + 2 < n ? me + 2 : 0, before = me > 0 ? me - 2 : 2 * (evens - 1);
        for (int round = 0; round < ROUNDS; round++) {
            shmem_p(&words[round], 10 * round + me, next);
            shmem_barrier(0, 1, evens, p_sync);
            CHECK_EQUAL(words[round], 10 * round + before);
        }
        for (int i = 0; i < SHMEM_BARRIER_SYNC_SIZE; i++) CHECK_EQUAL(p_sync[i], SHMEM_SYNC_VALUE);
    }
    shmem_barrier_all();
    if (me % 2 == 1) CHECK_EQUAL(words[ROUNDS - 1], 0);
    shmem_finalize();
    return api_result();
}
