/* SPDX-License-Identifier: Apache-2.0
 *
 * shmalloc, shmemalign, shrealloc and shfree by turns with their names of today on the same blocks: symmetric, aligned, contents kept, nothing where
 * there is nothing to do, and room given back by either name is there for both.
 * Spec: OpenSHMEM 1.6 §9.3.1 shmem_malloc, §9.3.2 shmem_free, §9.3.3 shmem_realloc, §9.3.4 shmem_align, §F.2.4
 * PES: 1 2 3
 * ENV: SHMEM_SYMMETRIC_SIZE=1M
 */
#include "../api.h"

enum { BYTES = 3000, HALF = 600 << 10 };

static void fill_next(unsigned char *block, size_t bytes, int tag)
{
    static unsigned char source[2 * BYTES];
    int                  next = (shmem_my_pe() + 1) % shmem_n_pes();
    memset(source, tag, bytes);
    shmem_barrier_all(); /* all have seen what was there */
    shmem_putmem(block, source, bytes, next);
    shmem_barrier_all();
}

static void check_all(const unsigned char *block, size_t bytes, int tag)
{
    for (size_t i = 0; i < bytes; i++)
        if (!CHECK_EQUAL(block[i], tag)) return;
}

int main(void)
{
    shmem_init();
    for (int round = 0; round < 6; round++) {
        bool           old   = round % 2;
        unsigned char *block = old ? shmalloc(BYTES) : shmem_malloc(BYTES);
        if (!CHECK(block != NULL)) break;
        fill_next(block, BYTES, round + 1);
        check_all(block, BYTES, round + 1);
        block = old ? shmem_realloc(block, 2 * BYTES) : shrealloc(block, 2 * BYTES);
        if (!CHECK(block != NULL)) break;
        check_all(block, BYTES, round + 1);
        fill_next(block, 2 * BYTES, round + 101);
        check_all(block, 2 * BYTES, round + 101);
        unsigned char *aligned = old ? shmem_align(4096, 100) : shmemalign(4096, 100);
        CHECK(aligned && (uintptr_t)aligned % 4096 == 0 && shmem_addr_accessible(aligned, 0));
        if (old) shmem_free(block);
        else shfree(block);
        if (old) shfree(aligned);
        else shmem_free(aligned);
        /* More than half of the heap, each time: the block of the round before has come back. */
        void *large = old ? shmem_malloc(HALF) : shmalloc(HALF);
        CHECK(large != NULL);
        CHECK((old ? shmalloc(HALF) : shmem_malloc(HALF)) == NULL);
        CHECK((old ? shrealloc(large, 2 << 20) : shmem_realloc(large, 2 << 20)) == NULL); /* the block stays */
        shfree(large);
    }
    /* None of these is collective: one PE alone makes them. */
    if (shmem_my_pe() == 0) {
        CHECK(shmalloc(0) == NULL);
        CHECK(shmemalign(64, 0) == NULL);
        CHECK(shrealloc(NULL, 0) == NULL);
        shfree(NULL);
    }
    void *block = shrealloc(NULL, 100);
    CHECK(block != NULL);
    CHECK(shrealloc(block, 0) == NULL);
    CHECK(shmemalign(3, 100) == NULL); /* no power of two */
    shmem_finalize();
    return api_result();
}
