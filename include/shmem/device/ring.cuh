/* SPDX-License-Identifier: Apache-2.0
 *
 * The producer's side of the ring: what a thread of a kernel does to ask the proxy for an operation, and to wait for its answer. ring.h has the
 * protocol. Written once, on the loads and stores of mem.cuh, for a GPU and for CPU threads.
 *
 * Tests: tests/unit/ring_keeps_its_orders.c (CPU threads, also under ThreadSanitizer).
 */
#ifndef SHMEMD_RING_CUH
#define SHMEMD_RING_CUH

#include "mem.cuh"
#include "ring.h"
#include "state.h"

/* Why a producer's wait ended. */
enum shmemd_ring_result { SHMEMD_RING_DONE, SHMEMD_RING_ABORT, SHMEMD_RING_LATE };

/* Waits look at the abort word and the clock only once in so many turns: both are far away. */
enum { SHMEMD_RING_LOOK = 64 };

/* Is it time to give up? turns counts the turns of the caller's loop; start_ns is the time of its first look, 0 before that. */
SHMEMD_FN enum shmemd_ring_result shmemd_ring_look(const struct shmemd_state *state, uint32_t turns, uint64_t *start_ns)
{
    shmemd_pause();
    if (turns % SHMEMD_RING_LOOK != 0) return SHMEMD_RING_DONE;
    if (shmemd_load_relaxed(&state->control->abort, 8) != SHMEMD_GO) return SHMEMD_RING_ABORT;
    if (state->wait_ns == 0) return SHMEMD_RING_DONE;
    uint64_t now_ns = shmemd_clock_ns();
    if (*start_ns == 0) *start_ns = now_ns;
    return now_ns - *start_ns > state->wait_ns ? SHMEMD_RING_LATE : SHMEMD_RING_DONE;
}

/* Until the slot of this ticket is free. */
SHMEMD_FN enum shmemd_ring_result shmemd_ring_wait_credit(const struct shmemd_state *state, uint64_t ticket)
{
    const struct shmemd_ring *ring     = &state->ring;
    uint64_t                  start_ns = 0;
    /*
     * Acquire, also from the copy: who stored it has acquired credit.free, and passes on that the proxy has read the slot (release below).
     */
    if (ticket - shmemd_load_acquire(&ring->producers->credit, 8) < ring->slots) return SHMEMD_RING_DONE;
    for (uint32_t turns = 0;; turns++) {
        uint64_t credit = shmemd_load_acquire(&ring->credit->free, 8);
        if (ticket - credit < ring->slots) {
            /* An older value that overtakes a newer one costs a look at host memory and no more. */
            shmemd_store_release(&ring->producers->credit, credit, 8);
            return SHMEMD_RING_DONE;
        }
        enum shmemd_ring_result result = shmemd_ring_look(state, turns, &start_ns);
        if (result != SHMEMD_RING_DONE) return result;
    }
}

/*
 * Publish *d (turn is filled in here). *ticket_out is the number to wait for, where d->op has SHMEMD_OP_REPLY. Anything but SHMEMD_RING_DONE:
 * nothing was published, and the job ends.
 */
SHMEMD_FN enum shmemd_ring_result shmemd_ring_post(const struct shmemd_state *state, const struct shmemd_descriptor *d,
                                                   uint64_t *ticket_out)
{
    const struct shmemd_ring *ring = &state->ring;
    /* Relaxed: a ticket is only a number. What it allows comes from the credit. */
    uint64_t                ticket = shmemd_atomic(&ring->producers->next, SHMEMD_ATOMIC_ADD, 1, 0, 8);
    enum shmemd_ring_result result = shmemd_ring_wait_credit(state, ticket);
    *ticket_out                    = ticket;
    if (result != SHMEMD_RING_DONE) return result;
    struct shmemd_descriptor *slot = &ring->descriptors[ticket & (ring->slots - 1)];
    /* 16 bytes at a time: each store is a packet on the bus. The first word is the turn, and the second goes alone. */
    struct shmemd_vector part;
    for (int i = 1; i < 4; i++) {
        memcpy(&part, (const char *)d + 16 * i, sizeof part);
        shmemd_store_vector((char *)slot + 16 * i, part);
    }
    uint64_t head;
    memcpy(&head, (const char *)d + 8, sizeof head);
    shmemd_store_relaxed((char *)slot + 8, head, 8);
    shmemd_store_release(&slot->turn, ticket + 1, 8); /* pairs with the acquire of the proxy (device/consumer.c) */
    return SHMEMD_RING_DONE;
}

/* Wait for the reply of an operation that was published with SHMEMD_OP_REPLY. *value_out: the old value of an atomic. */
SHMEMD_FN enum shmemd_ring_result shmemd_ring_wait_reply(const struct shmemd_state *state, uint64_t ticket, uint64_t *value_out)
{
    struct shmemd_reply *reply    = &state->ring.replies[ticket & (state->ring.slots - 1)];
    uint64_t             start_ns = 0;
    for (uint32_t turns = 0; shmemd_load_acquire(&reply->turn, 8) != ticket + 1; turns++) {
        enum shmemd_ring_result result = shmemd_ring_look(state, turns, &start_ns);
        if (result != SHMEMD_RING_DONE) return result;
    }
    *value_out = reply->value;
    shmemd_store_release(&reply->taken, ticket + 1, 8); /* the value is read: the slot may be used again */
    return SHMEMD_RING_DONE;
}

#endif
