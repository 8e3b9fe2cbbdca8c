/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3 4 5 8
 * ENV: POSTERN_COLL_SYNC=dissemination
 *
 * Equal heap calls are never taken for different ones, whatever meets between them and however far ahead a PE is: what a PE tells about its calls
 * with one barrier is neither mixed up with the next one nor with a barrier that tells nothing.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines
 */
#include "../api.h"

enum { ROUNDS = 3000 };

int main(void)
{
    shmem_init();
    int   me    = shmem_my_pe();
    long *value = shmem_calloc(2, sizeof *value);
    for (int i = 0; i < ROUNDS; i++) {
        char *block = shmem_malloc((size_t)(1 + i % 300));
        for (volatile int k = 0; k < 1000 * (i % 7 == me); k++) continue; /* one PE is late now and then */
        for (int k = 0; k < i % 3; k++) shmem_barrier_all();
        if (i % 4 == 1) shmem_sync_all();
        if (i % 16 == 3) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &value[1], &value[0], 1);
        if (i % 5 == 0) block = shmem_realloc(block, (size_t)(1 + i % 1000));
        CHECK(block != NULL);
        shmem_free(block);
    }
    shmem_free(value);
    shmem_finalize();
    return api_result();
}
