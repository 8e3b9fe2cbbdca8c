/* SPDX-License-Identifier: Apache-2.0
 *
 * malloc, calloc, align, realloc and free over nodes: a block is the same block on near and far PEs, its content is its owner's, realloc
 * keeps it, and what does not fit is NULL on every PE.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines
 * ENV: SHMEM_SYMMETRIC_SIZE=8M
 * NODES: a,b a:2,b
 * PES: 2 3 8
 */
#include "nodes.h"

enum { COUNT = 1000 };

static void fill(long *block, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++) block[i] = shmem_my_pe() * 10000 + (long)i;
}

static void look(const long *block, size_t count)
{
    static long got[2 * COUNT];
    shmem_barrier_all();
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        shmem_long_get(got, block, count, pe);
        for (size_t i = 0; i < count; i++)
            if (!CHECK_EQUAL(got[i], pe * 10000 + (long)i)) break;
    }
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    for (int round = 0; round < 3; round++) {
        long *first = shmem_malloc(COUNT * sizeof *first), *second = shmem_calloc(COUNT, sizeof *second),
             *third = shmem_align(4096, COUNT * sizeof *third);
        if (!CHECK(first && second && third)) shmem_global_exit(1);
        CHECK_EQUAL((uintptr_t)third % 4096, 0);
        for (size_t i = 0; i < COUNT; i++)
            if (!CHECK_EQUAL(second[i], 0)) break;
        fill(first, 0, COUNT);
        fill(second, 0, COUNT);
        look(first, COUNT);
        shmem_free(first);
        second = shmem_realloc(second, 2 * COUNT * sizeof *second);
        if (!CHECK(second != NULL)) shmem_global_exit(1);
        fill(second, COUNT, 2 * COUNT);
        look(second, 2 * COUNT);
        CHECK(shmem_malloc((size_t)9 << 20) == NULL);
        fill(third, 0, COUNT);
        look(third, COUNT);
        shmem_free(second);
        shmem_free(third);
    }
    shmem_finalize();
    return api_result();
}
