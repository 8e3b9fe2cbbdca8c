/* SPDX-License-Identifier: Apache-2.0
 *
 * From (symmetric address, PE) to a place: memory that this PE maps, or a segment and offset to post to.
 *
 * The plain path (inline here) knows the heap and the static data of PEs on this node. Everything else, and every error, is the
 * careful path in route.c.
 * Spec: OpenSHMEM 1.6 §3 Memory Model, §4.2 Invoking OpenSHMEM Operations, §C Undefined Behavior
 */
#ifndef SHMEMI_ROUTE_H
#define SHMEMI_ROUTE_H

#include "runtime/state.h"
#include "runtime/wait.h"

/* Where one operation goes. */
struct shmemi_place {
    void *
        mapped; /* not NULL: the bytes, in this address space; local is the PE's index on the node. Of a GPU where segment says so */
    unsigned local;
    int      transport; /* mapped NULL: post to transport, world PE pe, segment and offset */
    int      pe;
    int      segment;
    uint64_t offset;
};

/* Mapped memory of a PE of this node: where it is here, whose, and the bit of its segment in that PE's `asleep`. */
struct shmemi_spot {
    void    *at;
    unsigned local;
    uint32_t watch;
};

/*
 * Plain path: true and the mapped address. pe is a world number. Two compares: the second fails for any PE number outside
 * the node, negative ones too.
 */
SHMEMI_INLINE bool shmemi_route_plain(const void *address, int pe, struct shmemi_spot *spot_out)
{
    unsigned local = (unsigned)pe - shmemi_state.map_first;
    if (SHMEMI_UNLIKELY(local >= shmemi_state.map_count)) return false;
    uintptr_t offset = (uintptr_t)address - shmemi_state.heap_base;
    if (SHMEMI_LIKELY(offset < shmemi_state.heap_bytes)) {
        spot_out->at    = shmemi_state.heap_map + local * shmemi_state.heap_stride + offset;
        spot_out->watch = SHMEMI_WATCH(SHMEMT_SEGMENT_HEAP);
    } else {
        offset = (uintptr_t)address - shmemi_state.data_base;
        if (SHMEMI_UNLIKELY(offset >= shmemi_state.data_bytes)) return false;
        spot_out->at    = shmemi_state.data_map + local * shmemi_state.data_stride + offset;
        spot_out->watch = SHMEMI_WATCH(SHMEMT_SEGMENT_DATA);
    }
    spot_out->local = local;
    return true;
}

/* After stores to a spot: wake its PE if it sleeps on them. The order is explained in wait.h. */
SHMEMI_INLINE void shmemi_route_stored(struct shmemi_spot spot, size_t bytes)
{
    atomic_signal_fence(memory_order_seq_cst); /* the compiler must not look before it stores */
    if (SHMEMI_UNLIKELY(atomic_load_explicit(&shmemi_state_ctrl(spot.local)->asleep, memory_order_relaxed) & spot.watch))
        shmemi_wait_wake(spot.local, spot.at, bytes);
}

/*
 * Careful path: translate pe by ctx, find the address, check what the mode asks for. Ends the job with a message that names
 * the call where the address is not symmetric, the PE does not exist or cannot be reached.
 */
void shmemi_route_find(const struct shmemi_ctx *ctx, const char *call, const void *address, size_t bytes, int pe,
                       struct shmemi_place *place_out);

/*
 * The place is a word that atomics or signals change, or data whose order with one matters. Where the network device executes these, it does so for
 * near PEs too: a CPU's atomic beside it would be lost.
 */
static inline void shmemi_route_by_agent(struct shmemi_place *place)
{
    if (SHMEMI_UNLIKELY(shmemi_state.job.agent == SHMEMT_AGENT_NIC) && place->transport >= 0 &&
        place->segment != SHMEMT_SEGMENT_GPU)
        place->mapped = NULL;
}

/* A context handle as a pointer; ends the job on SHMEM_CTX_INVALID where the call is undefined for it. */
struct shmemi_ctx *shmemi_route_ctx(shmem_ctx_t ctx, const char *call);

/* As find, for queries: false where there is no such place; no message. */
bool shmemi_route_query(const void *address, int pe, struct shmemi_place *place_out);

/* Segment and offset of an address of mine; false: not symmetric. */
bool shmemi_route_segment(const void *address, int *segment_out, uint64_t *offset_out);

/* One number for (segment, offset): order within a segment is kept. For watched ranges. */
static inline uint64_t shmemi_route_position(int segment, uint64_t offset)
{
    return ((uint64_t)segment << 56) | offset;
}

/* Position of an address in a mapping of this node's memory (mine or a peer's); false: not symmetric. */
bool shmemi_route_mapped_position(unsigned local, const void *mapped, uint64_t *position_out);

/* "heap+0x40" or "0x7f..": for messages. Returns buffer. */
const char *shmemi_route_describe(const void *address, char *buffer, size_t buffer_bytes);

#endif
