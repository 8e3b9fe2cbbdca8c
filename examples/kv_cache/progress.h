/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress bar, drawn by PE 0 for its own share: shares are alike.
 */
#ifndef KV_PROGRESS_H
#define KV_PROGRESS_H

#include "link.h"

struct progress {
    bool     on;
    bool     redraw; /* on a terminal: the bar stays on one line */
    uint64_t start_ns, next_ns;
    uint64_t spans, spans_all;
    size_t   requests, requests_all;
};

void progress_start(struct progress *progress, const struct link *link);

/* A window was sent. Looks at the clock, and draws at most five times a second. */
void progress_step(struct progress *progress, const struct link *link, const struct window *window);

void progress_finish(struct progress *progress, const struct link *link);

#endif
