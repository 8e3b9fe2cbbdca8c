/* SPDX-License-Identifier: Apache-2.0
 *
 * The decode side of a pair: waits for layers, checks every byte where it lies, and gives credit.
 */
#ifndef KV_DECODE_H
#define KV_DECODE_H

#include "link.h"

struct decode {
    const struct link *link;
    const struct job  *job;
    int                peer;
    uint64_t           layers_seen; /* so far */
    bool               same_clock;
    struct counts     *counts;
};

void decode_init(struct decode *decode, const struct link *link);

/* Receive one window. */
void decode_receive(struct decode *decode, const struct window *window);

#endif
