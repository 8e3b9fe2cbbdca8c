/* SPDX-License-Identifier: Apache-2.0
 *
 * Every PE counts up its word at every PE; each goes on when all words have come to the end.
 * Spec: OpenSHMEM 1.6 §9.11.2 shmem_wait_until_all
 * Does what the specification's shmem_wait_until_all does.
 * PES: 2 3
 */
#include "../../api/api.h"

enum { STEPS = 10 };

int main(void)
{
    shmem_init();
    int  me = shmem_my_pe(), n = shmem_n_pes();
    int *words = shmem_calloc((size_t)n, sizeof *words);
    if (words == NULL) shmem_global_exit(1);
    for (int step = 1; step <= STEPS; step++) {
        for (int pe = 0; pe < n; pe++) shmem_atomic_set(&words[me], step, pe);
        shmem_fence(); /* or an earlier step could come later */
    }
    shmem_wait_until_all(words, (size_t)n, NULL, SHMEM_CMP_EQ, STEPS);
    for (int pe = 0; pe < n; pe++) CHECK_EQUAL(words[pe], STEPS);
    shmem_free(words);
    shmem_finalize();
    return api_result();
}
