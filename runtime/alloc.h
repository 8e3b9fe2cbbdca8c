/* SPDX-License-Identifier: Apache-2.0
 *
 * The allocator of the symmetric heap: pure arithmetic on offsets. The same sequence of calls gives the same results on every PE,
 * so that agreeing on an address takes no message. Its records live outside the heap: it never touches a heap page, and a
 * stray write of the user cannot break it. One thread at a time (the caller's duty).
 *
 * Offsets are from the start of the heap, which is aligned to at least a page.
 */
#ifndef SHMEMI_ALLOC_H
#define SHMEMI_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#define SHMEMI_ALLOC_NONE SIZE_MAX
/* Every block starts and ends on such a boundary, so two blocks never share a cache line. */
enum { SHMEMI_ALLOC_UNIT = 64 };

struct shmemi_alloc;

/* NULL if there is no memory for the records. heap_bytes may be 0. */
struct shmemi_alloc *shmemi_alloc_create(size_t heap_bytes);
void                 shmemi_alloc_destroy(struct shmemi_alloc *alloc);

/*
 * bytes > 0, any value up to SIZE_MAX; alignment a power of two (1 is legal). The offset, or SHMEMI_ALLOC_NONE where it does not fit.
 * Big blocks are preferably cut where reuse keeps the heap unfragmented; cost O(log n) in the number of blocks.
 */
size_t shmemi_alloc_get(struct shmemi_alloc *alloc, size_t bytes, size_t alignment);

/* The same in two steps, so that the second can be done later: where the block will be, and to take it. Nothing may come between. */
struct shmemi_alloc_plan {
    size_t   offset; /* SHMEMI_ALLOC_NONE: there is nothing to take */
    size_t   bytes, asked_bytes;
    uint32_t range; /* record of the free range to cut from */
};
struct shmemi_alloc_plan shmemi_alloc_find(struct shmemi_alloc *alloc, size_t bytes, size_t alignment);
void                     shmemi_alloc_take(struct shmemi_alloc *alloc, const struct shmemi_alloc_plan *plan);

/* 0, or -EINVAL where offset is not the start of a live block (nothing changes). */
int shmemi_alloc_free(struct shmemi_alloc *alloc, size_t offset);

/* Requested size of the live block that starts at offset; SHMEMI_ALLOC_NONE if there is none. */
size_t shmemi_alloc_size(const struct shmemi_alloc *alloc, size_t offset);

/*
 * Resize in place where possible: the block shrinks, or grows into free space behind it. 0; -ENOSPC: needs to move, nothing has changed;
 * -EINVAL as in free.
 */
int shmemi_alloc_resize(struct shmemi_alloc *alloc, size_t offset, size_t bytes);

/* For messages and tests. */
struct shmemi_alloc_stats {
    size_t blocks, used_bytes, free_bytes, largest_free_bytes;
};
void shmemi_alloc_stats(const struct shmemi_alloc *alloc, struct shmemi_alloc_stats *stats_out);

#endif
