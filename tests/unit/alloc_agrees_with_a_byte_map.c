/* SPDX-License-Identifier: Apache-2.0
 *
 * Random calls against a naive model, a map of the heap's units: no two blocks overlap, what is refused really does not
 * fit anywhere, and a second instance that is fed the same calls answers the same. Replay: UNIT_SEED=<seed>.
 */
#include "runtime/alloc.h"

#include "runtime/base/num.h"
#include "tests/unit/unit.h"

#include <errno.h>

enum { UNIT = SHMEMI_ALLOC_UNIT, UNITS_MAX = 1 << 17, BLOCKS_MAX = 3000, CALLS = 20000, HEAPS = 6 };

static struct {
    uint32_t owner[UNITS_MAX]; /* 0: free, else block number + 1 */
    size_t   units;
} map;

static struct block {
    size_t offset, bytes;
} blocks[BLOCKS_MAX];
static size_t   block_count;
static uint64_t random_state;

static uint64_t random_u64(void)
{
    random_state += UINT64_C(0x9e3779b97f4a7c15);
    return shmemi_hash(0, &random_state, sizeof random_state);
}

static size_t random_below(size_t limit)
{
    return (size_t)(random_u64() % limit);
}

/* Mostly small, sometimes up to the whole heap, sometimes absurd. */
static size_t random_bytes(void)
{
    if (random_below(200) == 0) return SIZE_MAX - random_below(200);
    size_t limit = (size_t)64 << random_below(18);
    return 1 + random_below(limit);
}

static size_t random_alignment(void)
{
    return random_below(3) ? (size_t)1 << random_below(7) : (size_t)1 << random_below(24);
}

static size_t units_of(size_t bytes)
{
    return bytes / UNIT + (bytes % UNIT != 0);
}

/* All units of [offset, offset + bytes) belong to `from`, and go to `to`. */
static void paint(size_t offset, size_t bytes, uint32_t from, uint32_t to)
{
    CHECK_EQ_U64(offset % UNIT, 0);
    bool good = offset / UNIT + units_of(bytes) <= map.units;
    for (size_t i = 0; good && i < units_of(bytes); i++) {
        good                         = map.owner[offset / UNIT + i] == from;
        map.owner[offset / UNIT + i] = to;
    }
    CHECK(good);
}

static bool fits_somewhere(size_t bytes, size_t alignment)
{
    size_t need = units_of(bytes), run = 0;
    for (size_t i = map.units; i-- > 0;) { /* run = free units from i on */
        run = map.owner[i] == 0 ? run + 1 : 0;
        if (run >= need && i * UNIT % alignment == 0) return true;
    }
    return false;
}

static void check_get(struct shmemi_alloc *one, struct shmemi_alloc *two)
{
    size_t bytes = random_bytes(), alignment = random_alignment();
    size_t offset = shmemi_alloc_get(one, bytes, alignment);
    CHECK_EQ_U64(shmemi_alloc_get(two, bytes, alignment), offset);
    if (offset == SHMEMI_ALLOC_NONE) {
        CHECK(!fits_somewhere(bytes, alignment));
        return;
    }
    CHECK_EQ_U64(offset % alignment, 0);
    paint(offset, bytes, 0, (uint32_t)block_count + 1);
    blocks[block_count++] = (struct block){offset, bytes};
}

static void check_free(struct shmemi_alloc *one, struct shmemi_alloc *two)
{
    size_t       victim = random_below(block_count);
    struct block block  = blocks[victim];
    CHECK_EQ_U64(shmemi_alloc_size(one, block.offset), block.bytes);
    CHECK_EQ_I64(shmemi_alloc_free(one, block.offset), 0);
    CHECK_EQ_I64(shmemi_alloc_free(two, block.offset), 0);
    paint(block.offset, block.bytes, (uint32_t)victim + 1, 0);
    block_count--;
    if (victim == block_count) return;
    blocks[victim] = blocks[block_count];
    paint(blocks[victim].offset, blocks[victim].bytes, (uint32_t)block_count + 1, (uint32_t)victim + 1);
}

/* Units behind the block that are free. */
static size_t room_behind(struct block block)
{
    size_t first = block.offset / UNIT + units_of(block.bytes), at = first;
    while (at < map.units && map.owner[at] == 0) at++;
    return at - first;
}

static void check_resize(struct shmemi_alloc *one, struct shmemi_alloc *two)
{
    size_t       victim = random_below(block_count), bytes = random_bytes();
    struct block block  = blocks[victim];
    int          result = shmemi_alloc_resize(one, block.offset, bytes);
    CHECK_EQ_I64(shmemi_alloc_resize(two, block.offset, bytes), result);
    CHECK_EQ_I64(result, units_of(bytes) <= units_of(block.bytes) + room_behind(block) ? 0 : -ENOSPC);
    if (result != 0) return;
    uint32_t owner = (uint32_t)victim + 1;
    paint(block.offset, block.bytes, owner, 0);
    paint(block.offset, bytes, 0, owner);
    blocks[victim].bytes = bytes;
}

static void check_stats(const struct shmemi_alloc *alloc)
{
    size_t                    used = 0, run = 0, largest = 0;
    struct shmemi_alloc_stats stats;
    for (size_t i = 0; i < map.units; i++) {
        used += map.owner[i] != 0;
        run = map.owner[i] == 0 ? run + 1 : 0;
        if (run > largest) largest = run;
    }
    shmemi_alloc_stats(alloc, &stats);
    CHECK_EQ_U64(stats.blocks, block_count);
    CHECK_EQ_U64(stats.used_bytes, used * UNIT);
    CHECK_EQ_U64(stats.free_bytes, (map.units - used) * UNIT);
    CHECK_EQ_U64(stats.largest_free_bytes, largest * UNIT);
}

static void check_heap(size_t heap_bytes)
{
    struct shmemi_alloc *one = shmemi_alloc_create(heap_bytes), *two = shmemi_alloc_create(heap_bytes);
    map.units   = heap_bytes / UNIT;
    block_count = 0;
    memset(map.owner, 0, sizeof map.owner);
    for (int call = 0; call < CALLS; call++) {
        size_t what = random_below(10);
        if (block_count == 0 || (what < 5 && block_count < BLOCKS_MAX)) {
            check_get(one, two);
        } else if (what < 9) {
            check_free(one, two);
        } else {
            check_resize(one, two);
        }
        if (call % 500 == 0) check_stats(one);
    }
    while (block_count > 0) check_free(one, two);
    check_stats(one);
    shmemi_alloc_destroy(one);
    shmemi_alloc_destroy(two);
}

int main(void)
{
    const char *seed = getenv("UNIT_SEED");
    random_state     = seed ? strtoull(seed, NULL, 0) : (uint64_t)shmemi_now_ns();
    printf("UNIT_SEED=%" PRIu64 "\n", random_state);
    static const size_t heaps[HEAPS] = {8 << 20, 1 << 20, 5000, 64 << 10, (8 << 20) - 777, 3 << 20};
    for (size_t i = 0; i < HEAPS; i++) check_heap(heaps[i]);
    return unit_result();
}
