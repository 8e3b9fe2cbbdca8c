/* SPDX-License-Identifier: Apache-2.0
 *
 * Roll-call without blocking: every PE sets a flag at every PE; each finds them one by one by shmem_test_any and counts its
 * rounds meanwhile.
 * Spec: OpenSHMEM 1.6 §9.11.10 shmem_test_any
 * Does what the specification's shmem_test_any_example does.
 * PES: 2 3
 */
#include "../../api/api.h"

int main(void)
{
    shmem_init();
    int  me = shmem_my_pe(), n = shmem_n_pes();
    int *here = shmem_calloc((size_t)n, sizeof *here), *done = calloc((size_t)n, sizeof *done);
    if (here == NULL || done == NULL) shmem_global_exit(1);
    for (int pe = 0; pe < n; pe++) shmem_atomic_set(&here[me], 8, pe);
    uint64_t rounds = 0;
    for (int found = 0; found < n; rounds++) {
        size_t who = shmem_test_any(here, (size_t)n, done, SHMEM_CMP_EQ, 8);
        if (who == SIZE_MAX) continue;
        if (!CHECK(who < (size_t)n && done[who] == 0)) break;
        done[who] = 1; /* left out from now on */
        found++;
    }
    CHECK(rounds >= (uint64_t)n);
    CHECK(shmem_test_any(here, (size_t)n, done, SHMEM_CMP_EQ, 8) == SIZE_MAX);
    free(done);
    shmem_free(here);
    shmem_finalize();
    return api_result();
}
