/* SPDX-License-Identifier: Apache-2.0
 *
 * What cannot fit gives NONE, whatever the size and the alignment, and changes nothing.
 */
#include "runtime/alloc.h"

#include "tests/unit/unit.h"

static const struct {
    size_t heap_bytes, bytes, alignment, offset;
} cases[] = {
    {0, 1, 1, SHMEMI_ALLOC_NONE},
    {0, SIZE_MAX, 1, SHMEMI_ALLOC_NONE},
    {63, 1, 1, SHMEMI_ALLOC_NONE}, /* less than one unit is no heap */
    {64, 1, 1, 0},
    {64, 64, 64, 0},
    {64, 65, 1, SHMEMI_ALLOC_NONE},
    {127, 65, 1, SHMEMI_ALLOC_NONE},
    {4096, 4096, 1, 0},
    {4096, 4097, 1, SHMEMI_ALLOC_NONE},
    {4096, 1, 4096, 0},
    {4096, 1, 8192, 0}, /* offset 0 meets any alignment */
    {4096, 4096, (size_t)1 << 63, 0},
    {4096, SIZE_MAX, 1, SHMEMI_ALLOC_NONE},
    {4096, SIZE_MAX - 1, 1, SHMEMI_ALLOC_NONE},
    {4096, SIZE_MAX - 62, 1, SHMEMI_ALLOC_NONE}, /* rounding up to the unit would give 0 */
    {4096, SIZE_MAX - 63, 1, SHMEMI_ALLOC_NONE},
    {4096, SIZE_MAX - 64, 1, SHMEMI_ALLOC_NONE},
    {4096, SIZE_MAX, (size_t)1 << 63, SHMEMI_ALLOC_NONE},
    {4096, (size_t)1 << 46, 1, SHMEMI_ALLOC_NONE},
    {(size_t)8 << 20, (size_t)8 << 20, 1, 0},
    {(size_t)8 << 20, ((size_t)8 << 20) + 1, 1, SHMEMI_ALLOC_NONE},
    {SIZE_MAX, SIZE_MAX, 1, SHMEMI_ALLOC_NONE}, /* the heap's last, partial unit cannot be given out */
    {SIZE_MAX, SIZE_MAX - 63, 1, 0},
    {SIZE_MAX, SIZE_MAX - 63, (size_t)1 << 63, 0},
};

static void check_case(size_t i)
{
    struct shmemi_alloc      *alloc = shmemi_alloc_create(cases[i].heap_bytes);
    struct shmemi_alloc_stats stats;
    size_t                    heap_bytes = cases[i].heap_bytes / SHMEMI_ALLOC_UNIT * SHMEMI_ALLOC_UNIT;
    size_t                    offset     = shmemi_alloc_get(alloc, cases[i].bytes, cases[i].alignment);
    if (offset != cases[i].offset)
        printf("case %zu: heap %zu, bytes %zu, alignment %zu\n", i, cases[i].heap_bytes, cases[i].bytes, cases[i].alignment);
    CHECK_EQ_U64(offset, cases[i].offset);

    bool fits = cases[i].offset != SHMEMI_ALLOC_NONE;
    shmemi_alloc_stats(alloc, &stats);
    CHECK_EQ_U64(stats.blocks, fits ? 1 : 0);
    CHECK_EQ_U64(stats.used_bytes + stats.free_bytes, heap_bytes);
    if (!fits) CHECK_EQ_U64(stats.largest_free_bytes, heap_bytes);
    if (fits) CHECK_EQ_U64(shmemi_alloc_size(alloc, offset), cases[i].bytes);
    shmemi_alloc_destroy(alloc);
}

/* With a block at 0, an alignment beyond the heap's end has no place left. */
static void check_alignment_beyond_the_heap(void)
{
    struct shmemi_alloc *alloc = shmemi_alloc_create(1 << 20);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 1, 1), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 1, 1 << 20), SHMEMI_ALLOC_NONE);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 1, (size_t)1 << 63), SHMEMI_ALLOC_NONE);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 1, 1 << 19), 1 << 19);
    shmemi_alloc_destroy(alloc);
}

/* Small allocations go on working after a refusal. Fault B12. */
static void check_refusal_changes_nothing(void)
{
    struct shmemi_alloc *alloc = shmemi_alloc_create(4096);
    size_t               first = shmemi_alloc_get(alloc, 100, 1);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 4096, 1), SHMEMI_ALLOC_NONE);
    size_t second = shmemi_alloc_get(alloc, 4096 - 128, 1);
    CHECK(second != SHMEMI_ALLOC_NONE);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 1, 1), SHMEMI_ALLOC_NONE);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, first), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 128, 1), first);
    shmemi_alloc_destroy(alloc);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_case(i);
    check_alignment_beyond_the_heap();
    check_refusal_changes_nothing();
    shmemi_alloc_destroy(NULL);
    return unit_result();
}
