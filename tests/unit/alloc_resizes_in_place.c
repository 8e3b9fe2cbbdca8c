/* SPDX-License-Identifier: Apache-2.0
 *
 * A block shrinks where it is and grows into free space behind it, or says that it must move and has not changed.
 */
#include "runtime/alloc.h"

#include "tests/unit/unit.h"

#include <errno.h>

enum { HEAP_BYTES = 64 << 10 };

static size_t used_bytes(const struct shmemi_alloc *alloc)
{
    struct shmemi_alloc_stats stats;
    shmemi_alloc_stats(alloc, &stats);
    return stats.used_bytes;
}

int main(void)
{
    struct shmemi_alloc *alloc = shmemi_alloc_create(HEAP_BYTES);
    size_t a = shmemi_alloc_get(alloc, 1000, 1), b = shmemi_alloc_get(alloc, 1000, 1), c = shmemi_alloc_get(alloc, 1000, 1);

    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, 1024), 0); /* within what it has */
    CHECK_EQ_U64(shmemi_alloc_size(alloc, a), 1024);
    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, 1025), -ENOSPC); /* b is behind it */
    CHECK_EQ_U64(shmemi_alloc_size(alloc, a), 1024);
    CHECK_EQ_U64(used_bytes(alloc), 3 * 1024);

    CHECK_EQ_I64(shmemi_alloc_free(alloc, b), 0);
    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, 2049), -ENOSPC);
    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, SIZE_MAX), -ENOSPC);
    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, SIZE_MAX - 63), -ENOSPC);
    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, 1500), 0); /* part of the hole */
    CHECK_EQ_U64(used_bytes(alloc), 1536 + 1024);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 512, 1), 1536); /* what is left of it */
    CHECK_EQ_I64(shmemi_alloc_free(alloc, 1536), 0);
    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, 2048), 0); /* all of the hole */
    CHECK_EQ_U64(used_bytes(alloc), 3 * 1024);

    CHECK_EQ_I64(shmemi_alloc_resize(alloc, a, 1), 0);
    CHECK_EQ_U64(shmemi_alloc_size(alloc, a), 1);
    CHECK_EQ_U64(used_bytes(alloc), 64 + 1024);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 2048 - 64, 1), 64); /* what it gave up is one hole */
    CHECK_EQ_I64(shmemi_alloc_free(alloc, 64), 0);

    CHECK_EQ_I64(shmemi_alloc_resize(alloc, c, HEAP_BYTES - 2048), 0); /* to the end of the heap */
    CHECK_EQ_I64(shmemi_alloc_resize(alloc, c, HEAP_BYTES - 2047), -ENOSPC);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, c), 0);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, a), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, HEAP_BYTES, 1), 0);
    shmemi_alloc_destroy(alloc);
    return unit_result();
}
