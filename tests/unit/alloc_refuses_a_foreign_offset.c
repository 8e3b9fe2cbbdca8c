/* SPDX-License-Identifier: Apache-2.0
 *
 * Only the start of a live block can be freed, asked about or resized; anything else is -EINVAL and changes nothing.
 */
#include "runtime/alloc.h"

#include "tests/unit/unit.h"

#include <errno.h>

static void check_unchanged(const struct shmemi_alloc *alloc, size_t blocks, size_t used_bytes)
{
    struct shmemi_alloc_stats stats;
    shmemi_alloc_stats(alloc, &stats);
    CHECK_EQ_U64(stats.blocks, blocks);
    CHECK_EQ_U64(stats.used_bytes, used_bytes);
}

int main(void)
{
    struct shmemi_alloc *alloc = shmemi_alloc_create(1 << 20);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, 0), -EINVAL); /* nothing lives yet */
    size_t first = shmemi_alloc_get(alloc, 1000, 1), second = shmemi_alloc_get(alloc, 1000, 1);
    check_unchanged(alloc, 2, 2048);

    const size_t foreign[] = {
        first + 1, first + SHMEMI_ALLOC_UNIT, first + 1000, second + 1024, 1 << 20, (1 << 20) - 64, SIZE_MAX, SIZE_MAX - 63};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        CHECK_EQ_I64(shmemi_alloc_free(alloc, foreign[i]), -EINVAL);
        CHECK_EQ_I64(shmemi_alloc_resize(alloc, foreign[i], 10), -EINVAL);
        CHECK_EQ_U64(shmemi_alloc_size(alloc, foreign[i]), SHMEMI_ALLOC_NONE);
        check_unchanged(alloc, 2, 2048);
    }
    CHECK_EQ_I64(shmemi_alloc_free(alloc, first), 0);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, first), -EINVAL); /* twice */
    check_unchanged(alloc, 1, 1024);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, second), 0);
    CHECK_EQ_I64(shmemi_alloc_free(alloc, second), -EINVAL);
    check_unchanged(alloc, 0, 0);
    shmemi_alloc_destroy(alloc);
    return unit_result();
}
