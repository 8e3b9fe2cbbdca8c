/* SPDX-License-Identifier: Apache-2.0
 *
 * The symmetric heap.
 *
 * All calls are collective over the world team: every PE makes the same calls in the same order
 * with the same arguments.  Their barriers act like shmem_barrier_all.  The result is a local
 * address of a block that has its twin on every PE.  Sizes are bytes.  A size of 0, and freeing
 * NULL, do nothing and take no barrier.  Where the heap is too small every PE gets NULL.
 * Spec: OpenSHMEM 1.6 §9.3.
 */
#ifndef SHMEMI_MEMORY_H
#define SHMEMI_MEMORY_H

#include "constants.h"
#include "types.h"

SHMEMI_BEGIN

/*
 * A block of at least size bytes, aligned for every type; barrier on exit.  alignment is a power of
 * two and a multiple of sizeof(void *).  hints: SHMEM_MALLOC_*, or 0.  The block of calloc holds
 * zeros on every PE when any PE returns.  Release with shmem_free.
 * Spec: §9.3.1, §9.3.4, §9.3.5, §9.3.6.
 */
SHMEMI_DECLARE(void *, shmem_malloc, (size_t size))
SHMEMI_DECLARE(void *, shmem_align, (size_t alignment, size_t size))
SHMEMI_DECLARE(void *, shmem_malloc_with_hints, (size_t size, long hints))
SHMEMI_DECLARE(void *, shmem_calloc, (size_t count, size_t size))

/* Release a block; barrier on entry, so no PE is still using it.  Spec: §9.3.2. */
SHMEMI_DECLARE(void, shmem_free, (void *ptr))

/*
 * Change the size of a block, moving it where needed; contents are kept up to the smaller size.
 * NULL allocates, size 0 releases.  On failure the block stays as it was and all PEs get NULL.
 * Barriers on entry and on exit.  Spec: §9.3.3.
 */
SHMEMI_DECLARE(void *, shmem_realloc, (void *ptr, size_t size))

SHMEMI_END

#endif
