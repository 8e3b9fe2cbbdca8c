/* SPDX-License-Identifier: Apache-2.0
 *
 * Percentiles of the histogram of kv_cache against those of the sorted times, for times from 0 to hours.
 */
#include "examples/kv_cache/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMES = 5000,
};

static uint64_t times[TIMES];
static uint64_t buckets[HISTOGRAM_BUCKETS];

static int compare(const void *a, const void *b)
{
    uint64_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int wrong_at(size_t count, double share)
{
    double exact = (double)times[(size_t)(share * (double)(count - 1) + 0.5)];
    double found = histogram_percentile(buckets, share);
    double error = found > exact ? found - exact : exact - found;
    if (error <= 0.03 * exact) {
        return 0;
    }
    printf("wrong: %zu times, share %g: %g instead of %g\n", count, share, found, exact);
    return 1;
}

int main(void)
{
    static const double shares[] = {0, 0.01, 0.5, 0.9, 0.99, 1};
    int                 wrong    = histogram_percentile(buckets, 0.5) != 0; /* of nothing */
    for (size_t count = 1; count <= TIMES; count = 2 * count + 1) {
        uint64_t x = count;
        memset(buckets, 0, sizeof buckets);
        for (size_t i = 0; i < count; i++) {
            x        = x * 6364136223846793005u + 1442695040888963407u;
            times[i] = (x >> 20) >> (x >> 58) % 44; /* as many short ones as long ones */
            histogram_add(buckets, times[i]);
        }
        qsort(times, count, sizeof *times, compare);
        for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
            wrong += wrong_at(count, shares[i]);
        }
    }
    memset(buckets, 0, sizeof buckets);
    histogram_add(buckets, UINT64_MAX); /* the last bucket is inside */
    wrong += histogram_percentile(buckets, 1) < 0x1p63;
    return wrong > 0;
}
