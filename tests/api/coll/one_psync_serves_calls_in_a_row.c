/* SPDX-License-Identifier: Apache-2.0
 *
 * The same pSync for one call after the other, as programs do although the standard asks for a synchronization between, and mixed with barrier and
 * sync of the same set: each broadcast, also from another root, brings its own data.
 *
 * PES: 2 3 4
 * ENV: POSTERN_CHAOS_DELAY=5us
 * Spec: OpenSHMEM 1.6 §9.10.2 shmem_barrier, §9.10.3 shmem_sync, §9.10.7 shmem_broadcast, §F.2.14 Active-set-based collectives
 */
#include "../api.h"

enum { CALLS = 60 };

static long psync[SHMEM_COLLECT_SYNC_SIZE], source[4], dest[CALLS][4], joined[CALLS][64];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    for (int call = 0; call < CALLS; call++) {
        int root = call % n;
        for (int i = 0; i < 4; i++) source[i] = me * 1000 + call * 4 + i;
        shmem_broadcast64(dest[call], source, 4, root, 0, 0, n, psync);
        if (call % 5 == 1) shmem_barrier(0, 0, n, psync);
        if (call % 5 == 3) shmem_sync(0, 0, n, psync);
        shmem_collect64(joined[call], source, 1, 0, 0, n, psync);
        for (int i = 0; i < 4 && me != root; i++) CHECK_EQUAL(dest[call][i], root * 1000 + call * 4 + i);
        for (int i = 0; i < n; i++) CHECK_EQUAL(joined[call][i], i * 1000 + call * 4);
    }
    shmem_barrier_all();
    for (int i = 0; i < SHMEM_COLLECT_SYNC_SIZE; i++) CHECK_EQUAL(psync[i], SHMEM_SYNC_VALUE);
    shmem_finalize();
    return api_result();
}
