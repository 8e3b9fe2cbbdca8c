/* SPDX-License-Identifier: Apache-2.0
 *
 * Which span lies in which slot of a decode PE's pool, and which slot is taken next.
 *
 * The prefill PE runs this and alone decides; the decode PE is told. So the two can never disagree, and what is reused
 * depends on the requests alone, not on timing: the slot to take next is always the one used longest ago, and if the decode
 * PE still reads there, the prefill PE waits (last_window says for what) and does not look for another one.
 *
 * At first all slots are free. Their order is shuffled, and with it every block table that follows.
 */
#ifndef KV_CACHE_H
#define KV_CACHE_H

#include <stddef.h>
#include <stdint.h>

/* A span is --page-tokens tokens of a block, in all layers. */
struct span_id {
    uint64_t block; /* id, as in the trace     */
    uint32_t span;  /* its number in the block */
};

#define NO_SLOT UINT32_MAX

struct cache;

/* A cache of slots free slots in an order that seed decides. NULL if out of memory. */
struct cache *cache_create(uint32_t slots, uint64_t seed);
void          cache_destroy(struct cache *cache);

/* The slot where a span lies, now used by window; NO_SLOT if it lies nowhere. */
uint32_t cache_use(struct cache *cache, struct span_id id, uint64_t window);

/* The slot to take next: free, or used longest ago. */
uint32_t cache_oldest(const struct cache *cache);

/* The window that used a slot last; 0 if none did. */
uint64_t cache_last_window(const struct cache *cache, uint32_t slot);

/* Put a span into a slot, used by window. Forgets what lay there. The span must lie nowhere. */
void cache_place(struct cache *cache, uint32_t slot, struct span_id id, uint64_t window);

#endif
