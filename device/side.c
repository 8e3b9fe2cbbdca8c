/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels of one side know, from what the runtime knows; and the memory that they share with this library.
 */
#include "device/side.h"

#include "device/tables.h"
#include "runtime/base/options.h"
#include "runtime/gpu/gpu.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct shmemd_side shmemd_side_all[SHMEMD_SIDES];

/* ---- segments ---- */

static const int segment_of[SHMEMD_SEGMENTS] = {
    [SHMEMD_SEGMENT_GPU]  = SHMEMT_SEGMENT_GPU,
    [SHMEMD_SEGMENT_HEAP] = SHMEMT_SEGMENT_HEAP,
    [SHMEMD_SEGMENT_DATA] = SHMEMT_SEGMENT_DATA,
};

static void find_windows(struct shmemd_side *side)
{
    const struct shmemi_state *state  = &shmemi_state;
    side->window[SHMEMD_SEGMENT_HEAP] = (struct shmemd_window){(char *)state->all_heap_base, state->all_heap_bytes};
    side->window[SHMEMD_SEGMENT_DATA] = (struct shmemd_window){(char *)state->own_data_base, state->own_data_bytes};
    side->window[SHMEMD_SEGMENT_GPU]  = (struct shmemd_window){(char *)state->gpu_base, shmemi_gpu.bytes};
}

/*
 * May kernels of this side load and store that PE's part, and do atomics there? A GPU that only stores there, as over PCIe, leaves it to the ring: an
 * atomic must not depend on who does it. Host memory is not registered with the driver, so kernels of a GPU reach none of it.
 */
static bool is_mapped(const struct shmemd_side *side, int segment, int pe)
{
    const struct shmemi_peer *peer  = &shmemi_state.peers[pe];
    int                       local = shmemi_state.node.local_of[pe];
    if ((side->kind == SHMEMD_SIDE_GPU) != (segment == SHMEMD_SEGMENT_GPU)) return false;
    if (segment == SHMEMD_SEGMENT_GPU) return local >= 0 && shmemi_gpu.mapped[local] && shmemi_gpu.atomics[local];
    return peer->mapped >= 0 && (segment != SHMEMD_SEGMENT_DATA || peer->same_data);
}

/* Are the mapped PEs consecutive, in the order of their parts? Then two numbers say which they are. */
static bool is_run(const int32_t *index, int npes, uint32_t *first_out, uint32_t *count_out)
{
    int first = 0, count = 0;
    while (first < npes && index[first] < 0) first++;
    for (int pe = first; pe < npes; pe++) {
        if (index[pe] < 0) continue;
        if (index[pe] != index[first] + count || pe != first + count) return false;
        count++;
    }
    *first_out = (uint32_t)first;
    *count_out = (uint32_t)count;
    return true;
}

/* index: [npes], of this segment, in memory that kernels reach. Returns the number of mapped PEs. */
static int describe_segment(struct shmemd_side *side, int segment, int32_t *index)
{
    const struct shmemi_state *state  = &shmemi_state;
    struct shmemd_segment     *out    = &side->state.segment[segment];
    int                        theirs = segment_of[segment], mapped = 0;
    out->base  = (uint64_t)(uintptr_t)side->window[segment].base;
    out->bytes = side->window[segment].bytes;
    if (out->bytes == 0) return state->npes; /* nothing is missing */
    for (int pe = 0; pe < state->npes; pe++) {
        index[pe] = is_mapped(side, segment, pe) ? state->node.local_of[pe] : -1;
        if (index[pe] >= 0) mapped++;
    }
    out->stride   = state->job.node_map[theirs].stride;
    out->map_base = (uint64_t)(uintptr_t)state->job.node_map[theirs].base;
    uint32_t first, count;
    if (is_run(index, state->npes, &first, &count)) {
        if (count > 0) out->map_base += (uint64_t)index[first] * out->stride;
        out->map_first = first;
        out->map_count = count;
    } else {
        out->local_of = index;
    }
    return mapped;
}

static void describe_segments(struct shmemd_side *side, int32_t *index)
{
    bool all = true, none = true;
    for (int segment = 0; segment < SHMEMD_SEGMENTS; segment++) {
        if (side->window[segment].bytes == 0) continue;
        int mapped = describe_segment(side, segment, index + (size_t)segment * (size_t)shmemi_state.npes);
        if (mapped < shmemi_state.npes) all = false;
        if (mapped > 0) none = false;
    }
    if (!all) side->state.flags |= SHMEMD_FLAG_RING;
    if (!all && !none) side->state.flags |= SHMEMD_FLAG_MIXED;
    if (shmemi_state.job.agent == SHMEMT_AGENT_NIC) side->state.flags |= SHMEMD_FLAG_RING | SHMEMD_FLAG_AMO_RING;
}

/* ---- memory ---- */

/* Hand out pieces of one allocation; with memory NULL only add up. */
struct pieces {
    char  *memory;
    size_t used;
};

static void *piece(struct pieces *pieces, size_t bytes)
{
    void *at = pieces->memory ? pieces->memory + pieces->used : NULL;
    pieces->used += (bytes + 127) / 128 * 128;
    return at;
}

struct shared {
    struct shmemd_credit *credit;
    int32_t              *list, *index;
};

static struct shared lay_out(struct shmemd_side *side, struct pieces *pieces, uint64_t slots)
{
    size_t        npes = (size_t)shmemi_state.npes;
    struct shared shared;
    side->control              = piece(pieces, sizeof *side->control);
    shared.credit              = piece(pieces, sizeof *shared.credit);
    side->consumer.descriptors = piece(pieces, slots * sizeof(struct shmemd_descriptor));
    side->consumer.replies     = piece(pieces, slots * sizeof(struct shmemd_reply));
    side->teams                = piece(pieces, SHMEMD_TEAMS_TABLE * sizeof(struct shmemd_team));
    side->contexts             = piece(pieces, SHMEMD_CONTEXTS_TABLE * sizeof(struct shmemd_context));
    shared.list                = piece(pieces, (size_t)shmemi_state.node.count * sizeof(int32_t));
    shared.index               = piece(pieces, SHMEMD_SEGMENTS * npes * sizeof(int32_t));
    side->consumer.credit      = shared.credit;
    side->consumer.slots       = slots;
    return shared;
}

static uint64_t ring_slots(void)
{
    uint64_t slots = 2;
    while (slots < (uint64_t)shmemi_options.device_ring) slots *= 2;
    return slots;
}

static int get_memory(struct shmemd_side *side, uint64_t slots, struct shared *shared_out)
{
    struct pieces pieces = {NULL, 0};
    lay_out(side, &pieces, slots);
    side->shared    = shmemd_memory_get(side->kind, pieces.used);
    side->producers = shmemd_memory_get_near(side->kind, sizeof(struct shmemd_producers));
    /* Of this library alone: */
    side->values         = calloc(slots, sizeof *side->values);
    side->consumer.asked = calloc(slots, sizeof *side->consumer.asked);
    if (!side->shared || !side->producers || !side->values || !side->consumer.asked) return -ENOMEM;
    pieces      = (struct pieces){side->shared, 0};
    *shared_out = lay_out(side, &pieces, slots);
    return 0;
}

static void fill_state(struct shmemd_side *side, const struct shared *shared, char *sync)
{
    const struct shmemi_state *state = &shmemi_state;
    memcpy(shared->list, state->node.pes, (size_t)state->node.count * sizeof(int32_t));
    side->state = (struct shmemd_state){
        .version  = SHMEMD_STATE_VERSION,
        .bytes    = sizeof side->state,
        .my_pe    = state->my_pe,
        .npes     = state->npes,
        .wait_ns  = state->wait_timeout_ns > 0 && state->wait_timeout_ns < INT64_MAX ? (uint64_t)state->wait_timeout_ns : 0,
        .world    = shmemd_tables_describe(&state->world, shared->list),
        .shared   = shmemd_tables_describe(&state->shared, shared->list),
        .teams    = side->teams,
        .contexts = side->contexts,
        .sync     = sync,
        .control  = side->control,
        .ring     = {.descriptors = side->consumer.descriptors,
                     .replies     = side->consumer.replies,
                     .credit      = shared->credit,
                     .producers   = side->producers,
                     .slots       = side->consumer.slots},
    };
    if (side->kind == SHMEMD_SIDE_CPU) side->state.flags |= SHMEMD_FLAG_CPU;
    if (state->check) side->state.flags |= SHMEMD_FLAG_CHECK;
    find_windows(side);
    describe_segments(side, shared->index);
}

int shmemd_side_open(struct shmemd_side *side, enum shmemd_side_kind kind, char *sync)
{
    struct shared shared = {NULL, NULL, NULL};
    memset(side, 0, sizeof *side);
    side->kind = kind;
    int err    = get_memory(side, ring_slots(), &shared);
    if (err) {
        shmemd_side_close(side);
        return err;
    }
    fill_state(side, &shared, sync);
    shmemd_tables_fill(side, shared.list);
    return 0;
}

void shmemd_side_close(struct shmemd_side *side)
{
    atomic_store_explicit(&side->live, false, memory_order_relaxed);
    if (side->shared) shmemd_memory_release(side->kind, side->shared);
    if (side->producers) shmemd_memory_release_near(side->kind, side->producers);
    free(side->values);
    free(side->consumer.asked);
    memset(side, 0, sizeof *side);
}
