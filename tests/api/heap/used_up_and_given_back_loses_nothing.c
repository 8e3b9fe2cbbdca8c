/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3 4
 * ENV: SHMEM_SYMMETRIC_SIZE=1M
 *
 * Rounds of: the largest block that fits, then small ones until the heap is full, then all back in mixed order. Every round gets as much as
 * the first. B12.
 * Spec: OpenSHMEM 1.6 §9.3.1 shmem_malloc, §9.3.2 shmem_free
 */
#include "../api.h"

enum { ROUNDS = 6, SMALL = 1000, SMALLS_MAX = 2000 };

int main(void)
{
    static void *small[SMALLS_MAX];
    int          smalls_of_first = -1;
    shmem_init();
    size_t largest = (size_t)1 << 20;
    void  *block;
    while ((block = shmem_malloc(largest)) == NULL && largest > 4096) largest -= 4096;
    CHECK(largest >= 900 << 10);
    shmem_free(block);
    for (int round = 0; round < ROUNDS; round++) {
        int count = 0;
        block     = shmem_malloc(largest / 2);
        CHECK(block != NULL);
        while (count < SMALLS_MAX && (small[count] = shmem_malloc(SMALL)) != NULL) {
            memset(small[count], count, SMALL);
            count++;
        }
        CHECK(count > 100 && count < SMALLS_MAX);
        if (smalls_of_first < 0) smalls_of_first = count;
        CHECK_EQUAL(count, smalls_of_first);
        for (int i = 0; i < count; i++)
            if (!CHECK_EQUAL(((unsigned char *)small[i])[SMALL - 1], i & 255)) break;
        for (int i = 0; i < count; i += 2) shmem_free(small[i]);
        shmem_free(block);
        for (int i = 1; i < count; i += 2) shmem_free(small[i]);
        block = shmem_malloc(largest);
        CHECK(block != NULL);
        shmem_free(block);
    }
    shmem_finalize();
    return api_result();
}
