/* SPDX-License-Identifier: Apache-2.0
 *
 * The consumer of the ring. Its words are plain integers in the header, which C++ and GPU compilers read too; here they are atomics of the same
 * size.  Tests: tests/unit/ring_keeps_its_orders.c.
 */
#include "device/consumer.h"

#include <string.h>

static uint64_t load_acquire(const uint64_t *word)
{
    return atomic_load_explicit((const _Atomic uint64_t *)word, memory_order_acquire);
}

static void store_release(uint64_t *word, uint64_t value)
{
    atomic_store_explicit((_Atomic uint64_t *)word, value, memory_order_release);
}

bool shmemd_consumer_take(struct shmemd_consumer *consumer, struct shmemd_descriptor *out, uint64_t *ticket_out)
{
    uint64_t                        ticket = atomic_load_explicit(&consumer->head, memory_order_relaxed);
    uint64_t                        slot   = ticket & (consumer->slots - 1);
    const struct shmemd_descriptor *from   = &consumer->descriptors[slot];
    /* Acquire: the bytes of the descriptor, and all that its thread did before; pairs with ring.cuh:shmemd_ring_post. */
    if (load_acquire(&from->turn) != ticket + 1) return false;
    memcpy((char *)out + sizeof out->turn, (const char *)from + sizeof out->turn, sizeof *out - sizeof out->turn);
    out->turn             = ticket + 1;
    consumer->asked[slot] = (out->op & SHMEMD_OP_REPLY) != 0;
    *ticket_out           = ticket;
    /* Relaxed: who reads it elsewhere orders that. */
    atomic_store_explicit(&consumer->head, ticket + 1, memory_order_relaxed);
    return true;
}

void shmemd_consumer_reply(struct shmemd_consumer *consumer, uint64_t ticket, uint64_t value)
{
    struct shmemd_reply *reply = &consumer->replies[ticket & (consumer->slots - 1)];
    reply->value               = value;
    /* Release: the value, and what the operation has brought into the producer's memory. */
    store_release(&reply->turn, ticket + 1);
}

void shmemd_consumer_free(struct shmemd_consumer *consumer)
{
    uint64_t head = atomic_load_explicit(&consumer->head, memory_order_relaxed), freed = consumer->freed;
    for (; freed < head; freed++) {
        uint64_t slot = freed & (consumer->slots - 1);
        /* Acquire: the producer has read the value before it said so; the next one may be stored there. */
        if (consumer->asked[slot] && load_acquire(&consumer->replies[slot].taken) != freed + 1) break;
    }
    if (freed == consumer->freed) return;
    consumer->freed = freed;
    /* Release: our reads of these descriptors come before the stores of the producers that reuse their slots. */
    store_release(&consumer->credit->free, freed);
}

bool shmemd_consumer_more(struct shmemd_consumer *consumer, uint64_t from)
{
    for (uint64_t i = 0; i < consumer->slots; i++) {
        uint64_t slot = (from + i) & (consumer->slots - 1);
        /* Or a later one: it is full again. */
        if (load_acquire(&consumer->descriptors[slot].turn) > from + i) return true;
    }
    return false;
}
