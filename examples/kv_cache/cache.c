/* SPDX-License-Identifier: Apache-2.0
 *
 * Least recently used slots. See cache.h.
 *
 * Every slot is on one list, from the oldest use to the newest; those that hold a span are on a hash chain too. Links are
 * slot numbers. The list's two ends are joined at an extra entry, number slots, so no end needs a special case.
 */
#include "cache.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

struct entry {
    struct span_id id;
    uint64_t       last_window;
    uint32_t       older, newer; /* the list of all slots               */
    uint32_t       chain;        /* the next one of the same hash value */
    bool           holds;        /* a span lies here                    */
};

struct cache {
    uint32_t      slots;
    uint32_t      buckets; /* a power of two */
    uint32_t     *heads;   /* of the chains  */
    struct entry *entries;
};

static uint32_t *bucket_of(const struct cache *cache, struct span_id id)
{
    uint64_t hash = (id.block * 0x9e3779b97f4a7c15u) ^ (id.span * 0xc2b2ae3d27d4eb4fu);
    hash ^= hash >> 32;
    return &cache->heads[(uint32_t)hash & (cache->buckets - 1)];
}

static void list_remove(struct cache *cache, uint32_t slot)
{
    struct entry *e        = cache->entries;
    e[e[slot].older].newer = e[slot].newer;
    e[e[slot].newer].older = e[slot].older;
}

static void list_append(struct cache *cache, uint32_t slot)
{
    struct entry *e       = cache->entries;
    uint32_t      end     = cache->slots;
    e[slot].older         = e[end].older;
    e[slot].newer         = end;
    e[e[end].older].newer = slot;
    e[end].older          = slot;
}

static void mark_used(struct cache *cache, uint32_t slot, uint64_t window)
{
    list_remove(cache, slot);
    list_append(cache, slot);
    cache->entries[slot].last_window = window;
}

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x          = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x          = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Append all slots to the empty list, shuffled (Fisher and Yates, inside out, on an array that the caller lends). */
static void append_shuffled(struct cache *cache, uint32_t *order, uint64_t seed)
{
    for (uint32_t i = 0; i < cache->slots; i++) {
        uint32_t j = (uint32_t)(next_random(&seed) % (i + 1));
        order[i]   = order[j];
        order[j]   = i;
    }
    for (uint32_t i = 0; i < cache->slots; i++) {
        list_append(cache, order[i]);
    }
}

struct cache *cache_create(uint32_t slots, uint64_t seed)
{
    assert(slots > 0);
    uint32_t buckets = 1;
    while (buckets < slots) {
        buckets *= 2;
    }
    struct cache *cache   = malloc(sizeof *cache);
    uint32_t     *heads   = malloc(buckets * sizeof *heads);
    struct entry *entries = calloc((size_t)slots + 1, sizeof *entries);
    uint32_t     *order   = calloc(slots, sizeof *order);
    if (cache == NULL || heads == NULL || entries == NULL || order == NULL) {
        free(cache);
        free(heads);
        free(entries);
        free(order);
        return NULL;
    }
    *cache = (struct cache){.slots = slots, .buckets = buckets, .heads = heads, .entries = entries};
    for (uint32_t i = 0; i < buckets; i++) {
        heads[i] = NO_SLOT;
    }
    entries[slots].older = entries[slots].newer = slots;
    append_shuffled(cache, order, seed);
    free(order);
    return cache;
}

void cache_destroy(struct cache *cache)
{
    if (cache != NULL) {
        free(cache->heads);
        free(cache->entries);
        free(cache);
    }
}

uint32_t cache_use(struct cache *cache, struct span_id id, uint64_t window)
{
    uint32_t slot = *bucket_of(cache, id);
    while (slot != NO_SLOT) {
        const struct entry *e = &cache->entries[slot];
        if (e->id.block == id.block && e->id.span == id.span) {
            mark_used(cache, slot, window);
            return slot;
        }
        slot = e->chain;
    }
    return NO_SLOT;
}

uint32_t cache_oldest(const struct cache *cache)
{
    return cache->entries[cache->slots].newer;
}

uint64_t cache_last_window(const struct cache *cache, uint32_t slot)
{
    return cache->entries[slot].last_window;
}

/* Take a slot off its hash chain. */
static void forget(struct cache *cache, uint32_t slot)
{
    struct entry *e    = &cache->entries[slot];
    uint32_t     *link = bucket_of(cache, e->id);
    while (*link != slot) {
        link = &cache->entries[*link].chain;
    }
    *link    = e->chain;
    e->holds = false;
}

void cache_place(struct cache *cache, uint32_t slot, struct span_id id, uint64_t window)
{
    struct entry *e = &cache->entries[slot];
    if (e->holds) {
        forget(cache, slot);
    }
    uint32_t *head = bucket_of(cache, id);
    e->id          = id;
    e->holds       = true;
    e->chain       = *head;
    *head          = slot;
    mark_used(cache, slot, window);
}
