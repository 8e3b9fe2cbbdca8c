/* SPDX-License-Identifier: Apache-2.0
 *
 * ENV: SHMEM_SYMMETRIC_SIZE=4M
 *
 * shmem_calloc gives count * size bytes, all zero before anybody returns, also where the block was used before; a product that overflows does
 * not fit.
 * Spec: OpenSHMEM 1.6 §9.3.6 shmem_calloc
 */
#include "../api.h"

static bool is_zero(const char *block, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (block[i]) return false;
    return true;
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    CHECK(shmem_calloc(SIZE_MAX / 2 + 1, 2) == NULL);
    CHECK(shmem_calloc((size_t)1 << 32, (size_t)1 << 32) == NULL); /* the product is 0 in 64 bits */
    CHECK(shmem_calloc(((size_t)1 << 32) + 1, (size_t)1 << 32) == NULL);
    CHECK(shmem_calloc(SIZE_MAX, SIZE_MAX) == NULL); /* 1 */

    char *garbage = malloc(50000);
    memset(garbage, 0xab, 50000);
    for (int round = 0; round < 4; round++) {
        char *used = shmem_malloc(50000);
        if (!CHECK(used != NULL)) break;
        shmem_putmem(used, garbage, 50000, next);
        shmem_free(used);
        char *block = shmem_calloc(100, 500);
        if (!CHECK(block != NULL)) break;
        /* the neighbour's is clear as well, since nobody returns before */
        shmem_getmem(used = malloc(50000), block, 50000, next);
        CHECK(is_zero(used, 50000));
        CHECK(is_zero(block, 50000));
        free(used);
        shmem_barrier_all();
        shmem_putmem(block, garbage, 50000, next);
        shmem_free(block);
    }
    free(garbage);
    shmem_finalize();
    return api_result();
}
