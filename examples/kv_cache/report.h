/* SPDX-License-Identifier: Apache-2.0
 *
 * The results: gathered by PE 0, printed as a table, written as JSON.
 */
#ifndef KV_REPORT_H
#define KV_REPORT_H

#include "link.h"

struct report {
    struct counts prefill; /* sums over all prefill PEs */
    struct counts decode;  /* sums over all decode PEs  */
    double        seconds;
    bool          usable_known; /* the two percentiles below are */
    double        usable_p50_us, usable_p99_us;
};

/* Gather, on PE 0; the others have finished and wait in a barrier. */
void report_gather(const struct link *link, uint64_t elapsed_ns, struct report *report_out);

void report_print(const struct link *link, const struct report *report, FILE *stream);

/* False if the file could not be written. */
bool report_write_json(const struct link *link, const struct report *report, FILE *file);

#endif
