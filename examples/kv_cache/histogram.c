/* SPDX-License-Identifier: Apache-2.0
 *
 * Counting times by size. See histogram.h.
 */
#include "histogram.h"

/* How many low bits of a time its bucket leaves out. */
static unsigned shift_of(uint64_t ns)
{
    unsigned highest = 63 - (unsigned)__builtin_clzll(ns | 1);
    return highest > HISTOGRAM_BITS ? highest - HISTOGRAM_BITS : 0;
}

void histogram_add(uint64_t *buckets, uint64_t ns)
{
    unsigned shift = shift_of(ns);
    buckets[((uint64_t)shift << HISTOGRAM_BITS) + (ns >> shift)]++;
}

/* The middle of a bucket. */
static double bucket_ns(uint64_t bucket)
{
    uint64_t half = 1u << HISTOGRAM_BITS;
    if (bucket < 2 * half) {
        return (double)bucket;
    }
    uint64_t shift = (bucket >> HISTOGRAM_BITS) - 1;
    return ((double)(bucket - shift * half) + 0.5) * (double)((uint64_t)1 << shift);
}

double histogram_percentile(const uint64_t *buckets, double share)
{
    uint64_t all = 0;
    for (uint64_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        all += buckets[i];
    }
    if (all == 0) {
        return 0;
    }
    uint64_t rank   = (uint64_t)(share * (double)(all - 1) + 0.5);
    uint64_t bucket = 0;
    for (uint64_t below = buckets[0]; below <= rank; below += buckets[bucket]) {
        bucket++;
    }
    return bucket_ns(bucket);
}
