/* SPDX-License-Identifier: Apache-2.0
 *
 * ENV: SHMEM_SYMMETRIC_SIZE=0
 *
 * 0 is a legal size. Allocation gives NULL; static objects and everything else work.
 * Spec: OpenSHMEM 1.6 §8 Environment Variables
 */
#include "../api.h"

static long word;

int main(void)
{
    for (int round = 0; round < 2; round++) {
        shmem_init();
        int me = shmem_my_pe(), n = shmem_n_pes();
        CHECK(shmem_malloc(1) == NULL);
        CHECK(shmem_calloc(1, 1) == NULL);
        CHECK(shmem_align(64, 1) == NULL);
        CHECK(shmem_realloc(NULL, 1) == NULL);
        CHECK_EQUAL(shmem_addr_accessible(NULL, me), 0);
        shmem_long_p(&word, me + 5, (me + 1) % n);
        shmem_barrier_all();
        CHECK_EQUAL(word, (me + n - 1) % n + 5);
        CHECK(shmem_ptr(&word, me) == &word);
        shmem_finalize();
    }
    return api_result();
}
