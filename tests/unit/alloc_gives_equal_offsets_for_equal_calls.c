/* SPDX-License-Identifier: Apache-2.0
 *
 * Two instances that are fed the same calls give the same offsets, also when their records lie elsewhere in memory and have been
 * through another history of growing, and the offsets of one fixed sequence never change: PEs of two builds may meet in one job.
 */
#include "runtime/alloc.h"

#include "runtime/base/num.h"
#include "tests/unit/unit.h"

enum { HEAP_BYTES = 256 << 20, LIVE_MAX = 20000, CALLS = 200000 };

/* One pass of a fixed sequence of calls; the result is a hash of all the offsets. */
static uint64_t run_sequence(struct shmemi_alloc *alloc)
{
    static size_t live[LIVE_MAX];
    size_t        count = 0;
    uint64_t      hash = 0, random = 1;
    for (int call = 0; call < CALLS; call++) {
        random      = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t pick = (size_t)(random >> 33);
        if (count < LIVE_MAX && (count == 0 || pick % 5 < 3)) {
            size_t offset = shmemi_alloc_get(alloc, 1 + pick % 50000 * (pick % 97 == 0 ? 100 : 1) / 4, (size_t)1 << pick % 14);
            hash          = shmemi_hash(hash, &offset, sizeof offset);
            if (offset != SHMEMI_ALLOC_NONE) live[count++] = offset;
        } else {
            size_t victim = pick % count;
            CHECK_EQ_I64(shmemi_alloc_free(alloc, live[victim]), 0);
            live[victim] = live[--count];
        }
    }
    while (count > 0) shmemi_alloc_free(alloc, live[--count]);
    return hash;
}

int main(void)
{
    struct shmemi_alloc *one = shmemi_alloc_create(HEAP_BYTES), *two = shmemi_alloc_create(HEAP_BYTES);
    for (int i = 0; i < 100000; i++) shmemi_alloc_get(two, 1, 1); /* two's records grow, and come back in another order */
    for (size_t i = 0; i < 100000; i++) shmemi_alloc_free(two, i * SHMEMI_ALLOC_UNIT);
    uint64_t hash = run_sequence(one);
    CHECK_EQ_U64(run_sequence(two), hash);
    CHECK_EQ_U64(hash, UINT64_C(0xd167b3ec9542c204)); /* a change of policy changes it: then bump the start-up exchange too */
    shmemi_alloc_destroy(one);
    shmemi_alloc_destroy(two);
    return unit_result();
}
