/* SPDX-License-Identifier: Apache-2.0
 *
 * The prefill side of a pair: owns the KV cache of requests and the order of the peer's slots, and sends.
 */
#ifndef KV_PREFILL_H
#define KV_PREFILL_H

#include "link.h"

struct prefill;

/* NULL after problem(). */
struct prefill *prefill_create(const struct link *link);
void            prefill_destroy(struct prefill *prefill);

/* Send one window, layer by layer: a signal each. Blocks while slots or tables that it needs are still being read. */
void prefill_send(struct prefill *prefill, const struct window *window);

#endif
