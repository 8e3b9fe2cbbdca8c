/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs of this folder share: bytes of GPU memory are written and read by get and put of the PE itself, since no CPU instruction may
 * touch them (SIMCUDA_PROTECT=1 makes that a fault). Patterns tell the PE, the round and the place of each byte.
 */
#ifndef POSTERN_TESTS_GPU_H
#define POSTERN_TESTS_GPU_H

#include "../api/api.h"

#include <shmemx.h>

static inline unsigned char gpu_byte(int pe, unsigned round, size_t at)
{
    return (unsigned char)((size_t)pe * 89 + round * 31 + at * 7 + (at >> 8) * 13 + 1);
}

/* Fill memory of any kind with the pattern. */
static inline void gpu_fill(void *memory, size_t bytes, int pe, unsigned round)
{
    unsigned char *host = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) host[i] = gpu_byte(pe, round, i);
    shmem_putmem(memory, host, bytes, shmem_my_pe());
    free(host);
}

static inline void gpu_clear(void *memory, size_t bytes)
{
    unsigned char *host = calloc(1, bytes);
    shmem_putmem(memory, host, bytes, shmem_my_pe());
    free(host);
}

/* How many bytes are not the pattern's, from `from` of it on. */
static inline size_t gpu_wrong(const void *memory, size_t bytes, int pe, unsigned round, size_t from)
{
    unsigned char *host  = malloc(bytes);
    size_t         wrong = 0;
    shmem_getmem(host, memory, bytes, shmem_my_pe());
    for (size_t i = 0; i < bytes; i++)
        if (host[i] != gpu_byte(pe, round, from + i)) wrong++;
    free(host);
    return wrong;
}

#endif
