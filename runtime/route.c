/* SPDX-License-Identifier: Apache-2.0
 *
 * The careful path from (address, PE) to a place, with all its checks and messages.
 */
#include "runtime/route.h"

#include "runtime/ctx.h"
#include "runtime/gpu/gpu.h"
#include "runtime/init.h"
#include "runtime/service.h"
#include "runtime/team.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool shmemi_route_segment(const void *address, int *segment_out, uint64_t *offset_out)
{
    const struct shmemi_state *state = &shmemi_state;
    uintptr_t                  at    = (uintptr_t)address;
    if (at - state->all_heap_base < state->all_heap_bytes) {
        *segment_out = SHMEMT_SEGMENT_HEAP;
        *offset_out  = at - state->all_heap_base;
    } else if (at - state->own_data_base < state->own_data_bytes) {
        *segment_out = SHMEMT_SEGMENT_DATA;
        *offset_out  = at - state->own_data_base;
    } else if (at - (uintptr_t)state->ctrl < state->ctrl_bytes) {
        *segment_out = SHMEMT_SEGMENT_CTRL;
        *offset_out  = at - (uintptr_t)state->ctrl;
    } else if (at - state->gpu_base < state->gpu_bytes) {
        *segment_out = SHMEMT_SEGMENT_GPU;
        *offset_out  = at - state->gpu_base;
    } else {
        return false;
    }
    return true;
}

bool shmemi_route_mapped_position(unsigned local, const void *mapped, uint64_t *position_out)
{
    const struct shmemt_job *job = &shmemi_state.job;
    for (int segment = SHMEMT_SEGMENT_CTRL; segment <= SHMEMT_SEGMENT_GPU; segment++) {
        if (!job->node_map[segment].base) continue;
        uintptr_t base   = (uintptr_t)job->node_map[segment].base + local * job->node_map[segment].stride;
        uintptr_t offset = (uintptr_t)mapped - base;
        if (offset < job->node_map[segment].bytes) {
            *position_out = shmemi_route_position(segment, offset);
            return true;
        }
    }
    return false;
}

const char *shmemi_route_describe(const void *address, char *buffer, size_t buffer_bytes)
{
    static const char *const names[] = {"the library's words", "static data", "heap", "GPU heap"};
    int                      segment;
    uint64_t                 offset;
    if (shmemi_route_segment(address, &segment, &offset))
        snprintf(buffer, buffer_bytes, "%p (%s+0x%llx)", address, names[segment], (unsigned long long)offset);
    else snprintf(buffer, buffer_bytes, "%p", address);
    return buffer;
}

static size_t segment_bytes(int segment)
{
    switch (segment) {
    case SHMEMT_SEGMENT_HEAP: return shmemi_state.all_heap_bytes;
    case SHMEMT_SEGMENT_DATA: return shmemi_state.own_data_bytes;
    case SHMEMT_SEGMENT_GPU: return shmemi_state.gpu_bytes;
    default: return shmemi_state.ctrl_bytes;
    }
}

/* ---- messages ---- */

static SHMEMI_COLD void not_symmetric(const char *call, const void *address)
{
    Dl_info library;
    if (!address)
        shmemi_service_fatal(call,
                             "the address is NULL" WHY
                             "shmem_malloc and its kin return NULL when the symmetric heap (%zu MiB) is full" FIX
                             "check their results, or raise SHMEM_SYMMETRIC_SIZE",
                             shmemi_state.all_heap_bytes >> 20);
    if (shmemi_state.own_data_bytes == 0 && shmemi_state.data.reason[0])
        shmemi_service_fatal(call,
                             "address %p is not symmetric" WHY
                             "it is not in the symmetric heap, and static objects are not symmetric here: %s" FIX
                             "allocate the object with shmem_malloc",
                             address, shmemi_state.data.reason);
    if (dladdr(address, &library) && library.dli_fname)
        shmemi_service_fatal(call,
                             "address %p is not symmetric" WHY
                             "it lies in %s, and only static objects of the executable's writable data are symmetric" FIX
                             "allocate the object with shmem_malloc, or define it in the executable",
                             address, library.dli_fname);
    shmemi_service_fatal(
        call,
        "address %p is not symmetric" WHY "it is neither in the symmetric heap (%p to %p) nor a static object of the executable; "
        "stack and malloc memory are private" FIX "allocate the object with shmem_malloc",
        address, (void *)shmemi_state.all_heap_base, (void *)(shmemi_state.all_heap_base + shmemi_state.all_heap_bytes));
}

static SHMEMI_COLD void past_the_end(const char *call, const void *address, size_t bytes)
{
    char text[80];
    shmemi_service_fatal(call,
                         "%zu bytes at %s reach past the end of that memory" WHY "the range must lie in one symmetric object" FIX
                         "look at the number of elements and at the address",
                         bytes, shmemi_route_describe(address, text, sizeof text));
}

static SHMEMI_COLD void no_such_pe(const char *call, int pe, int size)
{
    shmemi_service_fatal(call, "there is no PE %d" WHY "the context's team has PEs 0 to %d" FIX "look at how the PE number is made",
                         pe, size - 1);
}

static SHMEMI_COLD void other_executable(const char *call, const void *address, int pe)
{
    const struct shmemi_card *cards = shmemi_state.cards;
    shmemi_service_fatal(call,
                         "static object at %p is not symmetric with PE %d" WHY
                         "this PE runs %s, PE %d runs %s: their static objects do not correspond" FIX
                         "run one executable on both, or use the symmetric heap",
                         address, pe, cards[shmemi_state.my_pe].executable, pe, cards[pe].executable);
}

/* ---- finding ---- */

static int world_pe(const struct shmemi_ctx *ctx, const char *call, int pe)
{
    if (SHMEMI_UNLIKELY(pe < 0 || pe >= ctx->team->size)) no_such_pe(call, pe, ctx->team->size);
    return ctx->world ? pe : shmemi_team_world_pe(ctx->team, pe);
}

static bool place_at(int pe, int segment, uint64_t offset, struct shmemi_place *place_out)
{
    const struct shmemi_peer *peer  = &shmemi_state.peers[pe];
    struct shmemi_place       place = {.transport = peer->posted, .pe = pe, .segment = segment, .offset = offset};
    if (segment == SHMEMT_SEGMENT_GPU) { /* mapped or not, the PE's own thread serves what nothing else does */
        if (peer->local >= 0 && shmemi_gpu.mapped[peer->local]) {
            place.local  = (unsigned)peer->local;
            place.mapped = shmemi_gpu.map + (size_t)peer->local * shmemi_gpu.stride + offset;
        }
    } else if (peer->mapped != SHMEMI_NOT_MAPPED) {
        place.local = (unsigned)peer->local;
        place.mapped =
            shmemi_state.job.node_map[segment].base + (size_t)place.local * shmemi_state.job.node_map[segment].stride + offset;
    } else if (peer->posted < 0) {
        return false;
    }
    *place_out = place;
    return true;
}

struct shmemi_ctx *shmemi_route_ctx(shmem_ctx_t ctx, const char *call)
{
    if (ctx == SHMEM_CTX_DEFAULT) return &shmemi_state.ctx_default;
    if (SHMEMI_UNLIKELY(ctx == SHMEM_CTX_INVALID))
        shmemi_service_fatal(call, "the context is SHMEM_CTX_INVALID" WHY "an operation needs a context" FIX
                                   "look at the result of shmem_ctx_create");
    if (SHMEMI_UNLIKELY(shmemi_state.check && !shmemi_ctx_is_alive(ctx)))
        shmemi_service_fatal(call, "the context does not exist" WHY "it was destroyed, or never made" FIX
                                   "look at where the handle comes from");
    return ctx;
}

void shmemi_route_find(const struct shmemi_ctx *ctx, const char *call, const void *address, size_t bytes, int pe,
                       struct shmemi_place *place_out)
{
    int      segment;
    uint64_t offset;
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
    if (SHMEMI_UNLIKELY(shmemi_state.check && (ctx->options & SHMEM_CTX_PRIVATE) && !pthread_equal(ctx->owner, pthread_self())))
        shmemi_service_fatal(call, "the context is private to another thread" WHY "it was made with SHMEM_CTX_PRIVATE" FIX
                                   "use it in the thread that made it, or make it without that option");
    int world = world_pe(ctx, call, pe);
    if (SHMEMI_UNLIKELY(!shmemi_route_segment(address, &segment, &offset))) not_symmetric(call, address);
    if (SHMEMI_UNLIKELY(bytes > segment_bytes(segment) - offset)) past_the_end(call, address, bytes);
    if (SHMEMI_UNLIKELY(segment == SHMEMT_SEGMENT_DATA && !shmemi_state.peers[world].same_data))
        other_executable(call, address, world);
    if (SHMEMI_UNLIKELY(!place_at(world, segment, offset, place_out)))
        shmemi_service_fatal(
            call, "PE %d cannot be reached" WHY "no transport serves it" FIX "look at the report (POSTERN_REPORT=1)", world);
}

bool shmemi_route_query(const void *address, int pe, struct shmemi_place *place_out)
{
    int      segment;
    uint64_t offset;
    if (!shmemi_state_running() || pe < 0 || pe >= shmemi_state.npes) return false;
    if (!shmemi_route_segment(address, &segment, &offset) || segment == SHMEMT_SEGMENT_CTRL) return false;
    if (segment == SHMEMT_SEGMENT_DATA && !shmemi_state.peers[pe].same_data) return false;
    if (!place_at(pe, segment, offset, place_out)) return false;
    /* Not the node's view of it: one object has one address in a program, so far as it can be helped. */
    if (pe == shmemi_state.my_pe) place_out->mapped = (void *)(uintptr_t)address;
    return true;
}
