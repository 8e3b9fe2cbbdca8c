/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_malloc and its kin on the GPU heap: by a hint, or by POSTERN_HEAP=cuda; blocks do not overlap, have the alignment that was asked for and the
 * same offset everywhere; calloc clears, realloc keeps what was there, a full heap gives NULL to all; and the job may be started again.
 * PES: 1 2
 * ENV: POSTERN_CUDA_HEAP=4M POSTERN_HEAP=cuda
 * OUTPUT: do not fit into what is free of the symmetric GPU heap
 */
#include "gpu.h"

enum { BLOCKS = 8, BYTES = 50000 };

static void check_blocks(void)
{
    int   me = shmem_my_pe();
    char *block[BLOCKS], *moved;
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = i % 2 ? shmem_align(4096, BYTES) : shmem_malloc(BYTES);
        CHECK(block[i] != NULL);
        if (i % 2) CHECK((uintptr_t)block[i] % 4096 == 0);
        gpu_fill(block[i], BYTES, me, (unsigned)i);
    }
    for (int i = 0; i < BLOCKS; i++) CHECK(gpu_wrong(block[i], BYTES, me, (unsigned)i, 0) == 0);
    shmem_free(block[2]);
    block[2]             = shmem_calloc(BYTES, 1);
    unsigned char *zeros = calloc(1, BYTES), *seen = malloc(BYTES);
    shmem_getmem(seen, block[2], BYTES, me);
    CHECK(memcmp(seen, zeros, BYTES) == 0);
    moved = shmem_realloc(block[0], 3 * BYTES);
    CHECK(moved != NULL);
    CHECK(gpu_wrong(moved, BYTES, me, 0, 0) == 0);
    block[0] = shmem_realloc(moved, 100);
    CHECK(gpu_wrong(block[0], 100, me, 0, 0) == 0);
    CHECK(shmem_malloc((size_t)8 << 20) == NULL);
    for (int i = 0; i < BLOCKS; i++) shmem_free(block[i]);
    free(zeros);
    free(seen);
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        shmem_init();
        check_blocks();
        /* The host's memory is still there for who asks: the CPU may touch it. */
        long *host = shmem_malloc_with_hints(sizeof *host, SHMEMX_MEM_HOST);
        *host      = shmem_my_pe();
        shmem_barrier_all();
        CHECK(shmem_long_g(host, 0) == 0);
        shmem_barrier_all();
        shmem_free(host);
        shmem_finalize();
    }
    return api_result();
}
