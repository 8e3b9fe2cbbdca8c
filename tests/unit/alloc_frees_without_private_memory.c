/* SPDX-License-Identifier: Apache-2.0
 *
 * When private memory runs out, a block is still given while records last, then get says NONE; free, shrink and grow always work.
 */
#include <stdbool.h>
#include <stdlib.h>

static bool no_memory;

/* Private memory that can run out on request, in place of the C library's. */
static void *limited_realloc(void *old, size_t bytes)
{
    return no_memory ? NULL : realloc(old, bytes);
}

#define realloc limited_realloc
#include "runtime/alloc.c"
#undef realloc

#include "tests/unit/unit.h"

enum { HEAP_BYTES = 16 << 20, BLOCKS_MAX = HEAP_BYTES / 128 };

static size_t block[BLOCKS_MAX];

int main(void)
{
    struct shmemi_alloc *alloc = shmemi_alloc_create(HEAP_BYTES);
    size_t               count = 0;
    size_t               pad   = shmemi_alloc_get(alloc, 64, 1); /* leaves a free range before the first block */
    while (count < 10000) block[count++] = shmemi_alloc_get(alloc, 128, 1);

    CHECK_EQ_I64(shmemi_alloc_free(alloc, pad), 0);
    no_memory = true;
    while (count < BLOCKS_MAX && (block[count] = shmemi_alloc_get(alloc, 128, 1)) != SHMEMI_ALLOC_NONE) count++;
    printf("blocks given in all: %zu\n", count);
    CHECK(count > 10100);      /* the records were doubled ahead of need */
    CHECK(count < BLOCKS_MAX); /* and the heap was not the limit */

    /* As many free ranges as there can be: each block gives up its second half, and then grows and shrinks again. */
    for (size_t i = 0; i < count; i++) CHECK_EQ_I64(shmemi_alloc_resize(alloc, block[i], 64), 0);
    for (size_t i = 0; i < count; i++) CHECK_EQ_I64(shmemi_alloc_resize(alloc, block[i], 128), 0);
    for (size_t i = count; i-- > 0;) CHECK_EQ_I64(shmemi_alloc_resize(alloc, block[i], 1), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 64, 1), SHMEMI_ALLOC_NONE);
    for (size_t i = 0; i < count; i += 2) CHECK_EQ_I64(shmemi_alloc_free(alloc, block[i]), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 64, 1), 0); /* records that came back serve again; the smallest hole */
    for (size_t i = 1; i < count; i += 2) CHECK_EQ_I64(shmemi_alloc_free(alloc, block[i]), 0);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, 0), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, HEAP_BYTES, 1), 0);
    shmemi_alloc_destroy(alloc);

    CHECK(shmemi_alloc_create(HEAP_BYTES) == NULL);
    return unit_result();
}
