/* SPDX-License-Identifier: Apache-2.0
 *
 * ENV: SHMEM_SYMMETRIC_SIZE=1M
 *
 * Where shmem_realloc fails, every PE gets NULL, and the block is untouched: same address, contents, size, and it can be freed.
 * Spec: OpenSHMEM 1.6 §9.3.3 shmem_realloc
 */
#include "../api.h"

int main(void)
{
    static const size_t too_much[] = {2 << 20, SIZE_MAX, SIZE_MAX - 63, (size_t)1 << 40};
    shmem_init();
    int   me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    long *block = shmem_malloc(1000 * sizeof *block);
    if (!CHECK(block != NULL)) return 1;
    for (long i = 0; i < 1000; i++) block[i] = i + me;
    for (size_t i = 0; i < sizeof too_much / sizeof too_much[0]; i++) {
        CHECK(shmem_realloc(block, too_much[i]) == NULL);
        for (long k = 0; k < 1000; k++)
            if (!CHECK_EQUAL(block[k], k + me)) break;
        shmem_barrier_all();
        CHECK_EQUAL(shmem_long_g(&block[999], next), 999 + next);
    }
    shmem_free(block);
    CHECK(shmem_malloc(1000 << 10) != NULL);
    shmem_finalize();
    return api_result();
}
