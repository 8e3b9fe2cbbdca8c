/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting in a kernel, for a word or for the proxy.  Every wait ends: with what it waits for, with the job, or at its bound with a
 * report that says who waited for what.
 */
#ifndef SHMEMD_WAIT_CUH
#define SHMEMD_WAIT_CUH

#include "teams.cuh"

/* How long a wait has lasted.  Begins as zeros. */
struct shmemd_patience {
    uint32_t turns;
    uint64_t start_ns;
};

/* Polls before a waiting thread makes room for others: the answer of a neighbour comes within these. */
enum { SHMEMD_EAGER_TURNS = 64 };

/* One turn of a wait.  SHMEMD_RING_DONE: look again. */
SHMEMD_FN enum shmemd_ring_result shmemd_wait_turn(struct shmemd_patience *patience)
{
    const struct shmemd_state *self = shmemd_self();

#if defined(__CUDACC__)
    if (++patience->turns < SHMEMD_EAGER_TURNS) return SHMEMD_RING_DONE;
#else
    patience->turns++; /* the one that is waited for may need this very CPU */
#endif
    if (self->control == NULL) {
        shmemd_pause();
        return SHMEMD_RING_DONE;
    }
    return shmemd_ring_look(self, patience->turns, &patience->start_ns);
}

/* ---- a word of this PE ---- */

/* Compare two words of this kind (SHMEMD_KIND_OF) as their type does. */
SHMEMD_FN int shmemd_compare(uint64_t seen, int cmp, uint64_t wanted, unsigned kind)
{
    unsigned shift = 64u - 8u * SHMEMD_BYTES(kind);
    int      less, equal;

    /* To the top of 64 bits and back: the sign, or zeros, fill what the type does not have. */
    if (kind & SHMEMD_SIGNED) {
        int64_t a = (int64_t)(seen << shift) >> shift, b = (int64_t)(wanted << shift) >> shift;

        less  = a < b;
        equal = a == b;
    } else {
        uint64_t a = (seen << shift) >> shift, b = (wanted << shift) >> shift;

        less  = a < b;
        equal = a == b;
    }
    switch (cmp) {
    case SHMEM_CMP_EQ: return equal;
    case SHMEM_CMP_NE: return !equal;
    case SHMEM_CMP_GT: return !less && !equal;
    case SHMEM_CMP_GE: return !less;
    case SHMEM_CMP_LT: return less;
    case SHMEM_CMP_LE: return less || equal;
    default: return 0;
    }
}

/* Tell what a wait did not get, and give up. */
SHMEMD_SLOW void shmemd_wait_late(const void *word, int cmp, uint64_t wanted, unsigned kind, const char *call)
{
    const struct shmemd_state *self = shmemd_self();
    struct shmemd_report       report;

    shmemd_report_begin(&report, SHMEMD_REPORT_WAIT);
    report.offset  = (uint64_t)(uintptr_t)word;
    report.segment = shmemd_segment_of(self, word, &report.offset);
    report.seen    = shmemd_load_relaxed(word, SHMEMD_BYTES(kind));
    report.wanted  = wanted;
    report.cmp     = cmp;
    report.width   = SHMEMD_BYTES(kind);
    shmemd_give_up(&report, call);
}

/* One turn of a wait for a word, which ends the kernel where it must. */
SHMEMD_FN void shmemd_wait_look(struct shmemd_patience *patience, const void *word, int cmp, uint64_t wanted, unsigned kind,
                                const char *call)
{
    enum shmemd_ring_result result = shmemd_wait_turn(patience);

    if (result == SHMEMD_RING_ABORT) shmemd_stop();
    if (result == SHMEMD_RING_LATE) shmemd_wait_late(word, cmp, wanted, kind, call);
}

/* Until the word compares true; its value then.  Acquires what the writer released. */
SHMEMD_FN uint64_t shmemd_wait_until(const void *word, int cmp, uint64_t wanted, unsigned kind, const char *call)
{
    struct shmemd_patience patience = {0, 0};
    uint64_t               seen;

    for (;;) {
        seen = shmemd_load_acquire(word, SHMEMD_BYTES(kind));
        if (shmemd_compare(seen, cmp, wanted, kind)) return seen;
        shmemd_wait_look(&patience, word, cmp, wanted, kind, call);
    }
}

/* ---- the proxy ---- */

SHMEMD_SLOW void shmemd_post_failed(enum shmemd_ring_result result, enum shmemd_report_kind kind, int pe, uint64_t ticket,
                                    const char *call)
{
    if (result == SHMEMD_RING_ABORT) shmemd_stop();
    shmemd_refuse(call, kind, pe, NULL, ticket);
}

/* Hand an operation to the proxy; where it asks for a reply, wait for that and return its value. */
SHMEMD_SLOW uint64_t shmemd_post(const struct shmemd_descriptor *d, const char *call)
{
    const struct shmemd_state *self = shmemd_self();
    uint64_t                   ticket, value = 0;
    enum shmemd_ring_result    result;

    if (self->ring.slots == 0) shmemd_refuse(call, SHMEMD_REPORT_PE, d->pe, NULL, (uint64_t)(int64_t)d->pe);
    result = shmemd_ring_post(self, d, &ticket);
    if (result != SHMEMD_RING_DONE) shmemd_post_failed(result, SHMEMD_REPORT_CREDIT, d->pe, ticket, call);
    if ((d->op & SHMEMD_OP_REPLY) == 0) return 0;
    result = shmemd_ring_wait_reply(self, ticket, &value);
    if (result != SHMEMD_RING_DONE) shmemd_post_failed(result, SHMEMD_REPORT_REPLY, d->pe, ticket, call);
    return value;
}

/* A descriptor for this place. */
SHMEMD_FN struct shmemd_descriptor shmemd_describe(int op, int ctx, const struct shmemd_place *place, size_t bytes)
{
    struct shmemd_descriptor d;

    memset(&d, 0, sizeof d);
    d.pe       = place->pe;
    d.op       = (uint8_t)op;
    d.segments = (uint8_t)place->segment;
    d.ctx      = (uint8_t)ctx;
    d.remote   = place->offset;
    d.bytes    = bytes;
    return d;
}

#endif
