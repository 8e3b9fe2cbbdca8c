/* SPDX-License-Identifier: Apache-2.0
 *
 * ENV: SHMEM_SYMMETRIC_SIZE=16M
 *
 * An aligned address is aligned on every PE; malloc's is for any type. Blocks do not overlap. B13.
 * Spec: OpenSHMEM 1.6 §9.3.1 shmem_malloc, §9.3.4 shmem_align
 */
#include "../api.h"

#include <stddef.h>

static void fill_and_check(char *block, size_t bytes, char mark)
{
    memset(block, mark, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (!CHECK_EQUAL(block[i], mark)) break;
}

int main(void)
{
    shmem_init();
    char  *kept[64];
    size_t sizes[64], count = 0;
    for (size_t alignment = sizeof(void *); alignment <= 1 << 20; alignment *= 2) {
        const size_t wanted[] = {1, 37, alignment};
        for (int i = 0; i < 3; i++) {
            char *block = shmem_align(alignment, wanted[i]);
            if (!CHECK(block != NULL)) continue;
            CHECK_EQUAL((uintptr_t)block % alignment, 0);
            if (alignment < 1 << 16) kept[count] = block, sizes[count++] = wanted[i];
            else shmem_free(block);
        }
    }
    for (size_t bytes = 1; bytes < 300; bytes += 41) {
        char *block = shmem_malloc(bytes);
        CHECK(block != NULL);
        CHECK_EQUAL((uintptr_t)block % _Alignof(max_align_t), 0);
        shmem_free(block);
        block = shmem_calloc(1, bytes);
        CHECK_EQUAL((uintptr_t)block % _Alignof(max_align_t), 0);
        shmem_free(block);
    }
    for (size_t i = 0; i < count; i++) memset(kept[i], (int)i + 1, sizes[i]);
    for (size_t i = 0; i < count; i++)
        if (kept[i][0] != (char)(i + 1) || kept[i][sizes[i] - 1] != (char)(i + 1)) CHECK(!"blocks overlap");
    while (count > 0) count--, fill_and_check(kept[count], sizes[count], 'x'), shmem_free(kept[count]);
    shmem_finalize();
    return api_result();
}
