/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of 2 MiB and more start on a page where they can, so that they can be populated and mapped by large pages.
 */
#include "runtime/alloc.h"

#include "tests/unit/unit.h"

enum { MIB = 1 << 20, PAGE = 4096 };

int main(void)
{
    struct shmemi_alloc *alloc = shmemi_alloc_create(64 * MIB);
    /* Small and big ones in turn, big ones of odd sizes. */
    for (size_t i = 0; i < 8; i++) {
        CHECK(shmemi_alloc_get(alloc, 100 + i, 1) != SHMEMI_ALLOC_NONE);
        size_t big = shmemi_alloc_get(alloc, 2 * MIB + i * 1000, 1);
        CHECK_EQ_U64(big % PAGE, 0);
    }
    shmemi_alloc_destroy(alloc);

    /* Where no page boundary fits, the block is still given. */
    alloc = shmemi_alloc_create(2 * MIB + SHMEMI_ALLOC_UNIT);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 1, 1), 0);
    CHECK_EQ_U64(shmemi_alloc_get(alloc, 2 * MIB, 1), SHMEMI_ALLOC_UNIT);
    shmemi_alloc_destroy(alloc);
    return unit_result();
}
