/* SPDX-License-Identifier: Apache-2.0
 *
 * Every power of two is met as an alignment, also for blocks as large as it is; the space skipped stays usable. Fault B13.
 */
#include "runtime/alloc.h"

#include "tests/unit/unit.h"

enum { HEAP_BYTES = 64 << 20 };

static void check_alignment(struct shmemi_alloc *alloc, size_t alignment, size_t bytes)
{
    size_t crooked = shmemi_alloc_get(alloc, 1, 1); /* so that the next free byte is aligned to the unit only */
    size_t offset  = shmemi_alloc_get(alloc, bytes, alignment);
    CHECK(offset != SHMEMI_ALLOC_NONE);
    CHECK_EQ_U64(offset % alignment, 0);
    CHECK_EQ_U64(offset % SHMEMI_ALLOC_UNIT, 0);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, offset), 0);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, crooked), 0);
}

/* More ranges that are large enough but lie badly than the search tries one by one; only the last one does. */
static void check_the_only_place_is_found(void)
{
    enum { PIECE = 8192, PIECES = 300, GOOD = 211 };
    struct shmemi_alloc *alloc = shmemi_alloc_create((size_t)PIECE * PIECES);
    static size_t        body[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        if (i == GOOD) body[i] = shmemi_alloc_get(alloc, PIECE - SHMEMI_ALLOC_UNIT, 1);
        shmemi_alloc_get(alloc, SHMEMI_ALLOC_UNIT, 1);
        if (i != GOOD) body[i] = shmemi_alloc_get(alloc, PIECE - SHMEMI_ALLOC_UNIT, 1);
    }
    /* The one before GOOD stays, or it would join GOOD's. */
    for (size_t i = 0; i < PIECES; i++) {
        if (i != GOOD - 1 && i != GOOD) CHECK_EQ_I64(shmemi_alloc_free(alloc, body[i]), 0);
    }
    CHECK_EQ_U64(shmemi_alloc_get(alloc, PIECE - SHMEMI_ALLOC_UNIT, PIECE), SHMEMI_ALLOC_NONE);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, body[GOOD]), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, PIECE - SHMEMI_ALLOC_UNIT, PIECE), (size_t)GOOD * PIECE);
    shmemi_alloc_destroy(alloc);
}

int main(void)
{
    struct shmemi_alloc *alloc = shmemi_alloc_create(HEAP_BYTES);
    for (size_t alignment = 1; alignment <= HEAP_BYTES / 2; alignment *= 2) {
        check_alignment(alloc, alignment, 37);
        check_alignment(alloc, alignment, alignment);
    }
    struct shmemi_alloc_stats stats;
    shmemi_alloc_stats(alloc, &stats);
    CHECK_EQ_U64(stats.largest_free_bytes, HEAP_BYTES);

    /* What an alignment skips is given to others. */
    shmemi_alloc_get(alloc, 1, 1);
    size_t aligned = shmemi_alloc_get(alloc, 1, 1 << 20);
    CHECK_EQ_U64(aligned, 1 << 20);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, (1 << 20) - SHMEMI_ALLOC_UNIT, 1), SHMEMI_ALLOC_UNIT);
    shmemi_alloc_destroy(alloc);
    check_the_only_place_is_found();
    return unit_result();
}
