/* SPDX-License-Identifier: Apache-2.0
 *
 * Times, counted by size: room for any number of them in a fixed array, which sums of several PEs keep.
 *
 * Bucket widths grow with the time, 32 buckets to each doubling, so a percentile is within 3 % of the exact one.
 */
#ifndef KV_HISTOGRAM_H
#define KV_HISTOGRAM_H

#include <stdint.h>

enum {
    HISTOGRAM_BITS    = 5, /* of a time that choose its bucket, below the highest one */
    HISTOGRAM_BUCKETS = (64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS,
};

void histogram_add(uint64_t *buckets, uint64_t ns);

/* The time that a share (0 to 1) of all times do not exceed, in ns; 0 where there is none. */
double histogram_percentile(const uint64_t *buckets, double share);

#endif
