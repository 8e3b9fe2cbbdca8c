/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator of the symmetric heap: best fit, with neighbours joined at once.
 *
 * The heap is a chain of ranges in order of address; each is a live block or free, and no two free ones touch. Free ranges are also
 * in a tree ordered by (size, offset), live blocks in a tree ordered by offset. Best fit is the first free range that is large
 * enough: one descent, always the same answer, a freed block is refilled by the next one of its size, and (with joining) it is one of
 * the two policies known to fragment least. The trees are treaps whose priorities are a hash of the offset: balanced without
 * a random source, so equal calls give equal trees on every PE.
 *
 * Small blocks are cut from the low end of a free range and big ones from its high end, so that short-lived small blocks do not
 * settle between big ones, and big ones, which end where the heap or another big one begins, stay on page boundaries.
 *
 * Memory for the records: a heap with n live blocks has at most n + 1 free ranges. A get first makes sure of enough
 * records for that, so free and resize never need any. Only get can fail for lack of private memory, on one PE and not on others: the array
 * of 40-byte records is doubled while it is still half empty, and a failure to double it is no failure of the call until it is full.
 *
 * Tests: tests/unit/alloc_*.c.
 */
#include "runtime/alloc.h"

#include "runtime/base/attr.h"
#include "runtime/base/num.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum {
    NIL               = 0, /* record 0 is never used */
    FIRST_CAPACITY    = 256,
    BIG_BLOCK_BYTES   = 2 << 20,
    BIG_BLOCK_ALIGN   = 4096, /* smallest page of any machine we know; larger ones only gain by chance */
    ALIGNED_TRIES_MAX = 64,
};

struct range {
    size_t   offset, bytes; /* multiples of SHMEMI_ALLOC_UNIT                           */
    size_t   asked_bytes;   /* what the caller wanted; 0: this range is free            */
    uint32_t left, right;   /* in the tree of live blocks or in the tree of free ranges */
    uint32_t before, after; /* in order of address                                      */
};

struct shmemi_alloc {
    struct range *ranges;
    uint32_t      capacity, fresh, recycled; /* records: allocated; never used from here on; chain of returned ones (by .after) */
    uint32_t      live_root, free_root;
    size_t        blocks, used_bytes, heap_bytes;
};

/* --- the trees --- */

/* A bijection (splitmix64's finisher), so two offsets never have one priority. */
static uint64_t priority(const struct range *range)
{
    uint64_t x = range->offset + UINT64_C(0x9e3779b97f4a7c15);
    x          = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x          = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* Order within a tree: free ranges by size then offset; live blocks by offset. */
static bool sorts_before(const struct range *a, const struct range *b)
{
    if (a->asked_bytes == 0 && a->bytes != b->bytes) return a->bytes < b->bytes;
    return a->offset < b->offset;
}

static void tree_insert(struct shmemi_alloc *alloc, uint32_t *root, uint32_t added)
{
    struct range *ranges = alloc->ranges, *node = &ranges[added];
    uint32_t     *link = root;
    while (*link != NIL && priority(&ranges[*link]) > priority(node)) {
        link = sorts_before(node, &ranges[*link]) ? &ranges[*link].left : &ranges[*link].right;
    }
    /* node takes the place of the subtree below link, which is split into what sorts before it and what sorts after. */
    uint32_t  rest = *link;
    uint32_t *low = &node->left, *high = &node->right;
    *link = added;
    while (rest != NIL) {
        if (sorts_before(node, &ranges[rest])) {
            *high = rest;
            high  = &ranges[rest].left;
            rest  = *high;
        } else {
            *low = rest;
            low  = &ranges[rest].right;
            rest = *low;
        }
    }
    *low = *high = NIL;
}

static void tree_remove(struct shmemi_alloc *alloc, uint32_t *root, uint32_t removed)
{
    struct range *ranges = alloc->ranges;
    uint32_t     *link   = root;
    while (*link != removed) {
        assert(*link != NIL);
        link = sorts_before(&ranges[removed], &ranges[*link]) ? &ranges[*link].left : &ranges[*link].right;
    }
    uint32_t left = ranges[removed].left, right = ranges[removed].right;
    while (left != NIL && right != NIL) {
        if (priority(&ranges[left]) > priority(&ranges[right])) {
            *link = left;
            link  = &ranges[left].right;
            left  = *link;
        } else {
            *link = right;
            link  = &ranges[right].left;
            right = *link;
        }
    }
    *link = left != NIL ? left : right;
}

static uint32_t find_live(const struct shmemi_alloc *alloc, size_t offset)
{
    uint32_t at = alloc->live_root;
    while (at != NIL && alloc->ranges[at].offset != offset) {
        at = offset < alloc->ranges[at].offset ? alloc->ranges[at].left : alloc->ranges[at].right;
    }
    return at;
}

/* The first free range, in order of (size, offset), that is not before (bytes, offset). */
static uint32_t find_free(const struct shmemi_alloc *alloc, size_t bytes, size_t offset)
{
    const struct range wanted = {.bytes = bytes, .offset = offset};
    uint32_t           at = alloc->free_root, found = NIL;
    while (at != NIL) {
        if (sorts_before(&alloc->ranges[at], &wanted)) {
            at = alloc->ranges[at].right;
        } else {
            found = at;
            at    = alloc->ranges[at].left;
        }
    }
    return found;
}

/* --- records --- */

/* After this, capacity records exist or the result is false. */
static bool grow_records(struct shmemi_alloc *alloc, size_t capacity)
{
    size_t bytes;
    if (capacity > UINT32_MAX || !shmemi_mul_size(capacity, sizeof(struct range), &bytes)) return false;
    struct range *ranges = realloc(alloc->ranges, bytes);
    if (!ranges) return false;
    alloc->ranges   = ranges;
    alloc->capacity = (uint32_t)capacity;
    return true;
}

/* Make sure that one more block can be cut and that everything can be freed or shrunk afterwards. */
static bool reserve_records(struct shmemi_alloc *alloc)
{
    size_t need =
        2 * (alloc->blocks + 1) + 3; /* blocks, one more free range, record 0, and one in passing while a range is split */
    if (alloc->capacity >= 2 * need) return true;
    return grow_records(alloc, (size_t)alloc->capacity * 2) || alloc->capacity >= need;
}

static uint32_t take_record(struct shmemi_alloc *alloc)
{
    uint32_t record = alloc->recycled;
    if (record != NIL) {
        alloc->recycled = alloc->ranges[record].after;
    } else {
        assert(alloc->fresh < alloc->capacity);
        record = alloc->fresh++;
    }
    return record;
}

static void return_record(struct shmemi_alloc *alloc, uint32_t record)
{
    alloc->ranges[record].after = alloc->recycled;
    alloc->recycled             = record;
}

/* --- ranges --- */

/* A new record for the part of range from `bytes` on; range keeps what is before. Neither may be in a tree; both count as free. */
static uint32_t split_range(struct shmemi_alloc *alloc, uint32_t range, size_t bytes)
{
    uint32_t      tail_index = take_record(alloc);
    struct range *head = &alloc->ranges[range], *tail = &alloc->ranges[tail_index];
    assert(bytes > 0 && bytes < head->bytes && bytes % SHMEMI_ALLOC_UNIT == 0);
    *tail = (struct range){
        .offset = head->offset + bytes,
        .bytes  = head->bytes - bytes,
        .before = range,
        .after  = head->after,
    };
    if (head->after != NIL) alloc->ranges[head->after].before = tail_index;
    head->after = tail_index;
    head->bytes = bytes;
    return tail_index;
}

/* Make the range behind `range` part of it. Neither may be in a tree. */
static void absorb_next(struct shmemi_alloc *alloc, uint32_t range)
{
    struct range *head = &alloc->ranges[range];
    uint32_t      next = head->after;
    assert(next != NIL && alloc->ranges[next].offset == head->offset + head->bytes);
    head->bytes += alloc->ranges[next].bytes;
    head->after = alloc->ranges[next].after;
    if (head->after != NIL) alloc->ranges[head->after].before = range;
    return_record(alloc, next);
}

static bool is_free(const struct shmemi_alloc *alloc, uint32_t range)
{
    return range != NIL && alloc->ranges[range].asked_bytes == 0;
}

/* Put a free range that is in no tree among the free ones, joined with its free neighbours. */
static void release_range(struct shmemi_alloc *alloc, uint32_t range)
{
    uint32_t after = alloc->ranges[range].after, before = alloc->ranges[range].before;
    if (is_free(alloc, after)) {
        tree_remove(alloc, &alloc->free_root, after);
        absorb_next(alloc, range);
    }
    if (is_free(alloc, before)) {
        tree_remove(alloc, &alloc->free_root, before);
        absorb_next(alloc, before);
        range = before;
    }
    tree_insert(alloc, &alloc->free_root, range);
}

/* Where in this free range a block would lie, or NONE. */
static size_t place(const struct range *range, size_t bytes, size_t align)
{
    assert(range->asked_bytes == 0 && bytes > 0);
    if (range->bytes < bytes) return SHMEMI_ALLOC_NONE;
    size_t end = range->offset + range->bytes;
    if (bytes >= BIG_BLOCK_BYTES) {
        size_t offset = shmemi_round_down(end - bytes, align);
        return offset >= range->offset ? offset : SHMEMI_ALLOC_NONE;
    }
    size_t unaligned;
    if (!shmemi_add_size(range->offset, align - 1, &unaligned)) return SHMEMI_ALLOC_NONE;
    size_t offset = shmemi_round_down(unaligned, align);
    return offset <= end - bytes ? offset : SHMEMI_ALLOC_NONE;
}

/*
 * The free range to cut a block from, or NIL. With an alignment above the unit a range may be large enough and still not do: the
 * smallest few are tried, then the first that is sure to do. The rest is searched only where nothing else is left and `all` is set.
 */
static uint32_t choose(const struct shmemi_alloc *alloc, size_t bytes, size_t align, bool all)
{
    uint32_t tries = 0;
    size_t   sure_bytes;
    if (!shmemi_add_size(bytes, align - SHMEMI_ALLOC_UNIT, &sure_bytes)) sure_bytes = SIZE_MAX;
    uint32_t at = find_free(alloc, bytes, 0);
    while (at != NIL) {
        if (place(&alloc->ranges[at], bytes, align) != SHMEMI_ALLOC_NONE) return at;
        if (++tries == ALIGNED_TRIES_MAX) {
            uint32_t sure = find_free(alloc, sure_bytes, 0);
            if (sure != NIL || !all) return sure;
        }
        at = find_free(alloc, alloc->ranges[at].bytes, alloc->ranges[at].offset + 1);
    }
    return NIL;
}

/* Cut [offset, offset + bytes) out of a free range; asked_bytes of it are what the caller wanted. */
static void cut(struct shmemi_alloc *alloc, uint32_t range, size_t offset, size_t bytes, size_t asked_bytes)
{
    tree_remove(alloc, &alloc->free_root, range);
    if (offset > alloc->ranges[range].offset) {
        uint32_t block = split_range(alloc, range, offset - alloc->ranges[range].offset);
        tree_insert(alloc, &alloc->free_root, range);
        range = block;
    }
    if (bytes < alloc->ranges[range].bytes) tree_insert(alloc, &alloc->free_root, split_range(alloc, range, bytes));
    alloc->ranges[range].asked_bytes = asked_bytes;
    tree_insert(alloc, &alloc->live_root, range);
    alloc->used_bytes += bytes;
    alloc->blocks++;
}

/* --- the interface --- */

struct shmemi_alloc *shmemi_alloc_create(size_t heap_bytes)
{
    struct shmemi_alloc *alloc = calloc(1, sizeof *alloc);
    if (!alloc) return NULL;
    alloc->heap_bytes = shmemi_round_down(heap_bytes, SHMEMI_ALLOC_UNIT);
    alloc->fresh      = NIL + 1;
    if (!grow_records(alloc, FIRST_CAPACITY)) {
        free(alloc);
        return NULL;
    }
    if (alloc->heap_bytes > 0) {
        uint32_t all       = take_record(alloc);
        alloc->ranges[all] = (struct range){.bytes = alloc->heap_bytes};
        tree_insert(alloc, &alloc->free_root, all);
    }
    return alloc;
}

void shmemi_alloc_destroy(struct shmemi_alloc *alloc)
{
    if (!alloc) return;
    free(alloc->ranges);
    free(alloc);
}

struct shmemi_alloc_plan shmemi_alloc_find(struct shmemi_alloc *alloc, size_t bytes, size_t alignment)
{
    struct shmemi_alloc_plan plan = {.offset = SHMEMI_ALLOC_NONE, .asked_bytes = bytes};
    assert(bytes > 0);
    assert(alignment > 0 && (alignment & (alignment - 1)) == 0);
    if (bytes > alloc->heap_bytes) return plan; /* from here on, rounding up cannot wrap */
    if (!reserve_records(alloc)) return plan;

    size_t align = alignment > SHMEMI_ALLOC_UNIT ? alignment : SHMEMI_ALLOC_UNIT;
    plan.bytes   = shmemi_round_up(bytes, SHMEMI_ALLOC_UNIT);
    plan.range   = NIL;
    if (plan.bytes >= BIG_BLOCK_BYTES && align < BIG_BLOCK_ALIGN) {
        plan.range = choose(alloc, plan.bytes, BIG_BLOCK_ALIGN, false);
        if (plan.range != NIL) align = BIG_BLOCK_ALIGN;
    }
    if (plan.range == NIL) plan.range = choose(alloc, plan.bytes, align, true);
    if (plan.range != NIL) plan.offset = place(&alloc->ranges[plan.range], plan.bytes, align);
    return plan;
}

void shmemi_alloc_take(struct shmemi_alloc *alloc, const struct shmemi_alloc_plan *plan)
{
    if (plan->offset != SHMEMI_ALLOC_NONE) cut(alloc, plan->range, plan->offset, plan->bytes, plan->asked_bytes);
}

size_t shmemi_alloc_get(struct shmemi_alloc *alloc, size_t bytes, size_t alignment)
{
    const struct shmemi_alloc_plan plan = shmemi_alloc_find(alloc, bytes, alignment);
    shmemi_alloc_take(alloc, &plan);
    return plan.offset;
}

int shmemi_alloc_free(struct shmemi_alloc *alloc, size_t offset)
{
    uint32_t block = find_live(alloc, offset);
    if (block == NIL) return -EINVAL;
    tree_remove(alloc, &alloc->live_root, block);
    alloc->used_bytes -= alloc->ranges[block].bytes;
    alloc->blocks--;
    alloc->ranges[block].asked_bytes = 0;
    release_range(alloc, block);
    return 0;
}

size_t shmemi_alloc_size(const struct shmemi_alloc *alloc, size_t offset)
{
    uint32_t block = find_live(alloc, offset);
    return block == NIL ? SHMEMI_ALLOC_NONE : alloc->ranges[block].asked_bytes;
}

/* Move the end of a live block into the free range behind it. */
static int grow_block(struct shmemi_alloc *alloc, uint32_t block, size_t need_bytes)
{
    uint32_t next       = alloc->ranges[block].after;
    size_t   more_bytes = need_bytes - alloc->ranges[block].bytes;
    if (!is_free(alloc, next) || alloc->ranges[next].bytes < more_bytes) return -ENOSPC;
    tree_remove(alloc, &alloc->free_root, next);
    if (alloc->ranges[next].bytes > more_bytes) {
        tree_insert(alloc, &alloc->free_root, split_range(alloc, next, more_bytes));
    }
    absorb_next(alloc, block); /* a live block's place in its tree depends on its offset alone */
    alloc->used_bytes += more_bytes;
    return 0;
}

static void shrink_block(struct shmemi_alloc *alloc, uint32_t block, size_t need_bytes)
{
    size_t less_bytes = alloc->ranges[block].bytes - need_bytes;
    release_range(alloc, split_range(alloc, block, need_bytes));
    alloc->used_bytes -= less_bytes;
}

int shmemi_alloc_resize(struct shmemi_alloc *alloc, size_t offset, size_t bytes)
{
    assert(bytes > 0);
    uint32_t block = find_live(alloc, offset);
    if (block == NIL) return -EINVAL;
    if (bytes > alloc->heap_bytes) return -ENOSPC;
    size_t need_bytes = shmemi_round_up(bytes, SHMEMI_ALLOC_UNIT);
    if (need_bytes > alloc->ranges[block].bytes) {
        int err = grow_block(alloc, block, need_bytes);
        if (err) return err;
    } else if (need_bytes < alloc->ranges[block].bytes) {
        shrink_block(alloc, block, need_bytes);
    }
    alloc->ranges[block].asked_bytes = bytes;
    return 0;
}

void shmemi_alloc_stats(const struct shmemi_alloc *alloc, struct shmemi_alloc_stats *stats_out)
{
    uint32_t largest = alloc->free_root;
    while (largest != NIL && alloc->ranges[largest].right != NIL) largest = alloc->ranges[largest].right;
    *stats_out = (struct shmemi_alloc_stats){
        .blocks             = alloc->blocks,
        .used_bytes         = alloc->used_bytes,
        .free_bytes         = alloc->heap_bytes - alloc->used_bytes,
        .largest_free_bytes = largest == NIL ? 0 : alloc->ranges[largest].bytes,
    };
}
