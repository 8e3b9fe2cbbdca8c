/* SPDX-License-Identifier: Apache-2.0
 *
 * A reduction has several ways, of which the library takes one by size and team. These tests take each way in turn: a program
 * may initialise again after its last finalize, and the library reads its options then.
 */
#ifndef POSTERN_TESTS_COLL_REDUCE_WAYS_H
#define POSTERN_TESTS_COLL_REDUCE_WAYS_H

#include "../api.h"

struct way {
    const char *reduce, *sync; /* values of POSTERN_COLL_REDUCE and POSTERN_COLL_SYNC */
};

static const struct way ways[] = {
    {"auto", "auto"},          {"flat", "auto"},      {"doubling", "auto"}, {"direct", "auto"}, {"direct", "dissemination"},
    {"auto", "dissemination"}, {"direct", "central"},
};

/* Members that do not map each other have one way to meet, so over such a transport the other rows would repeat the first ones. */
static inline bool ways_repeat(const struct way *way)
{
    const char *transports = getenv("POSTERN_TRANSPORTS");
    return transports && strcmp(transports, "chaos") == 0 && strcmp(way->sync, "auto") != 0;
}

/* How messages of a failed test tell the way. */
static inline void ways_tell(const struct way *way, int failures_before)
{
    int failures = atomic_load_explicit(&api_failures, memory_order_relaxed);
    if (failures > failures_before)
        fprintf(stderr, "PE %d: that was with POSTERN_COLL_REDUCE=%s POSTERN_COLL_SYNC=%s\n", api_pe(), way->reduce, way->sync);
}

/* Initialise, body(), finalize: for every way. */
static inline void ways_each(void (*body)(void))
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (ways_repeat(&ways[i])) continue;
        int before = atomic_load_explicit(&api_failures, memory_order_relaxed);
        setenv("POSTERN_COLL_REDUCE", ways[i].reduce, 1);
        setenv("POSTERN_COLL_SYNC", ways[i].sync, 1);
        shmem_init();
        body();
        ways_tell(&ways[i], before);
        shmem_finalize();
    }
}

/* Bits that depend on both numbers in no simple manner. */
static inline uint64_t ways_bits(uint64_t pe, uint64_t i)
{
    uint64_t x = (pe + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (i + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

#endif
