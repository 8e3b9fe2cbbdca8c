/* SPDX-License-Identifier: Apache-2.0
 *
 * Rounds of: take the largest block, fill the rest with small ones, free in mixed order. No byte is lost. Fault B12.
 */
#include "runtime/alloc.h"

#include "tests/unit/unit.h"

enum { HEAP_BYTES = (64 << 20) - 4096, SMALL_BYTES = 1000, ROUNDS = 20 };

static size_t small[HEAP_BYTES / SMALL_BYTES];

static void check_whole(const struct shmemi_alloc *alloc)
{
    struct shmemi_alloc_stats stats;
    shmemi_alloc_stats(alloc, &stats);
    CHECK_EQ_U64(stats.blocks, 0);
    CHECK_EQ_U64(stats.used_bytes, 0);
    CHECK_EQ_U64(stats.largest_free_bytes, HEAP_BYTES);
}

static size_t fill_with_small(struct shmemi_alloc *alloc)
{
    size_t count = 0;
    for (size_t offset; (offset = shmemi_alloc_get(alloc, SMALL_BYTES, 8)) != SHMEMI_ALLOC_NONE;) small[count++] = offset;
    return count;
}

/* Every third, then backwards every second of what is left, then the big one in the middle, then the rest. */
static void free_in_mixed_order(struct shmemi_alloc *alloc, size_t big, size_t count)
{
    for (size_t i = 0; i < count; i += 3) CHECK_EQ_I64(shmemi_alloc_free(alloc, small[i]), 0);
    for (size_t i = count; i-- > 0;) {
        if (i % 3 == 1) CHECK_EQ_I64(shmemi_alloc_free(alloc, small[i]), 0);
    }
    CHECK_EQ_I64(shmemi_alloc_free(alloc, big), 0);
    for (size_t i = 2; i < count; i += 3) CHECK_EQ_I64(shmemi_alloc_free(alloc, small[i]), 0);
}

int main(void)
{
    struct shmemi_alloc *alloc       = shmemi_alloc_create(HEAP_BYTES);
    size_t               count_first = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t big = shmemi_alloc_get(alloc, 32 << 20, 8);
        CHECK(big != SHMEMI_ALLOC_NONE);
        size_t count = fill_with_small(alloc);
        if (round == 0) count_first = count;
        CHECK_EQ_U64(count, count_first);
        CHECK_EQ_U64(count, (HEAP_BYTES - (32 << 20)) / 1024);
        free_in_mixed_order(alloc, big, count);
        check_whole(alloc);
    }
    CHECK_EQ_U64(shmemi_alloc_get(alloc, HEAP_BYTES, 1), 0);
    shmemi_alloc_destroy(alloc);
    return unit_result();
}
