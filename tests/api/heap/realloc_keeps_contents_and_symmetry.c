/* SPDX-License-Identifier: Apache-2.0
 *
 * ENV: SHMEM_SYMMETRIC_SIZE=8M
 *
 * Contents are kept up to the smaller size, wherever the block goes; the result is a symmetric object of the new size. B13.
 * In the second pass a block behind it is in the way, so that it must move.
 * Spec: OpenSHMEM 1.6 §9.3.3 shmem_realloc
 */
#include "../api.h"

static char pattern(int pe, size_t i)
{
    return (char)(i * 7 + (size_t)pe * 13 + 1);
}

int main(void)
{
    static const size_t sizes[] = {1, 9, 100, 4096, 70000, 3, 1000000, 17, 500000, 63, 64, 65, 128};
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    for (int pass = 0; pass < 2; pass++) {
        char  *block  = NULL, *in_the_way[16];
        size_t before = 0, steps = sizeof sizes / sizeof sizes[0];
        for (size_t step = 0; step < steps; step++) {
            block = shmem_realloc(block, sizes[step]);
            if (!CHECK(block != NULL)) break;
            size_t kept = before < sizes[step] ? before : sizes[step];
            for (size_t i = 0; i < kept; i++)
                if (!CHECK_EQUAL(block[i], pattern(me, i))) break;
            for (size_t i = 0; i < sizes[step]; i++) block[i] = pattern(me, i);
            shmem_barrier_all();
            char last = 0;
            shmem_getmem(&last, block + sizes[step] - 1, 1, next);
            CHECK_EQUAL(last, pattern(next, sizes[step] - 1));
            before = sizes[step];
            if (pass == 1) in_the_way[step] = shmem_malloc(8);
        }
        CHECK(shmem_realloc(block, 0) == NULL); /* free */
        for (size_t step = 0; pass == 1 && step < steps; step++) shmem_free(in_the_way[step]);
    }
    void *all = shmem_malloc((8 << 20) - (64 << 10)); /* nothing was lost */
    CHECK(all != NULL);
    shmem_finalize();
    return api_result();
}
