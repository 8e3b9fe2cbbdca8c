/* SPDX-License-Identifier: Apache-2.0
 *
 * Size 0 is NULL and no action, free(NULL) and realloc(NULL, 0) too. No barrier: here one PE alone makes these
 * calls, different ones on each, and a barrier would wait for ever or pair with a wrong call. B10.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines, §9.3.1 to §9.3.6
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    for (int i = 0; i <= me; i++) {
        CHECK(shmem_malloc(0) == NULL);
        CHECK(shmem_calloc(0, 8) == NULL);
        CHECK(shmem_calloc(8, 0) == NULL);
        CHECK(shmem_calloc(0, 0) == NULL);
        CHECK(shmem_calloc(0, SIZE_MAX) == NULL);
        CHECK(shmem_align(64, 0) == NULL);
        CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
        CHECK(shmem_realloc(NULL, 0) == NULL);
        shmem_free(NULL);
    }
    /* and what follows is symmetric all the same */
    long *block = shmem_malloc(sizeof *block);
    if (CHECK(block != NULL)) {
        shmem_long_p(block, me, (me + 1) % shmem_n_pes());
        shmem_barrier_all();
        CHECK_EQUAL(*block, (me + shmem_n_pes() - 1) % shmem_n_pes());
    }
    shmem_free(block);
    shmem_finalize();
    return api_result();
}
