/* SPDX-License-Identifier: Apache-2.0
 *
 * The proxy's side of the ring (include/shmem/device/ring.h has the protocol): takes descriptors in the order of their tickets, gives
 * replies, and gives slots back. Pure: no thread, no runtime. One thread uses it, but for shmemd_consumer_more().
 */
#ifndef SHMEMD_CONSUMER_H
#define SHMEMD_CONSUMER_H

#include <shmem/device/ring.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct shmemd_consumer {
    struct shmemd_descriptor *descriptors;
    struct shmemd_reply      *replies;
    struct shmemd_credit     *credit;
    uint64_t                  slots; /* a power of two */
    bool                     *asked; /* [slots] the producer of this slot waits for a reply */
    _Atomic uint64_t          head;  /* the next ticket to take; written by the consumer */
    uint64_t                  freed; /* as told in credit */
};

/* The next descriptor, if it is published: a copy, and its ticket. */
bool shmemd_consumer_take(struct shmemd_consumer *consumer, struct shmemd_descriptor *out, uint64_t *ticket_out);

/* Answer one that has asked for it. */
void shmemd_consumer_reply(struct shmemd_consumer *consumer, uint64_t ticket, uint64_t value);

/* Give the slots back whose descriptors were taken and whose replies, if any, were read. */
void shmemd_consumer_free(struct shmemd_consumer *consumer);

/* Any thread: is a ticket published, from this one on, that this thread knows of? Looks at every slot: one may be ahead of those before it. */
bool shmemd_consumer_more(struct shmemd_consumer *consumer, uint64_t from);

#endif
