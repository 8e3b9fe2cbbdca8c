/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations with memory of a GPU on either side. Which way an operation goes follows from the place at the target; gpu.h names the three. Where
 * a transport carries the bytes, the local side must be memory that it has registered: the own GPU heap, or host memory. Anything else is copied
 * through host memory, piece by piece.
 *
 * Words of a GPU heap have one agent, the GPU that they lie in: atomics and signals on them are done by a kernel there, started by whoever maps
 * them, or by their owner (stage.c). An update by the network device would not be atomic with it, so the transports are not asked.
 */
#include "runtime/gpu/inside.h"
#include "runtime/rma.h"
#include "runtime/service.h"
#include "transports/mapped.h"

#include <stdlib.h>
#include <string.h>

enum way { BY_DRIVER, BY_POST, BY_STAGE };

#define PIECE_BYTES ((size_t)256 << 10) /* of what is copied through host memory */

static enum way way_of(const struct shmemi_place *place)
{
    if (place->mapped) return BY_DRIVER;
    if (place->segment != SHMEMT_SEGMENT_GPU || shmemi_gpu_rdma_reaches(place->pe)) return BY_POST;
    return BY_STAGE;
}

/* May the transport of this place use that local memory as it is? */
static bool posts_from(const struct shmemi_place *place, const void *local)
{
    return shmemi_gpu_is_heap(local) ? shmemi_gpu_rdma_has(place->transport) : !shmemi_gpu_is_foreign(local);
}

static void *host_room(size_t bytes)
{
    void *room = malloc(bytes);
    if (!room)
        shmemi_service_fatal("GPU memory",
                             "could not get %zu KiB of host memory to copy through" WHY "malloc gave none" FIX
                             "raise `ulimit -v`, or start fewer PEs",
                             bytes >> 10);
    return room;
}

static size_t piece_of(size_t bytes)
{
    return bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
}

/* ---- contiguous ---- */

static void put_through_host(struct shmemi_ctx *ctx, const struct shmemi_place *to, const char *source, size_t bytes)
{
    char *room = host_room(piece_of(bytes));
    for (size_t at = 0; at < bytes;) {
        size_t              piece = piece_of(bytes - at);
        struct shmemi_place part  = *to;
        part.offset += at;
        shmemi_gpu_copy(room, source + at, piece);
        shmemi_post_put(ctx, &part, room, piece, SHMEMI_POST_LOCAL);
        at += piece;
    }
    free(room);
}

void shmemi_gpu_put(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                    enum shmemi_post_wait wait)
{
    switch (way_of(to)) {
    case BY_DRIVER:
        if (wait == SHMEMI_POST_NBI && to->segment == SHMEMT_SEGMENT_GPU && shmemi_gpu_is(source)) {
            shmemi_gpu_copy_nbi(to->mapped, source, bytes); /* who waits for it at the target looks for itself */
            return;
        }
        shmemi_gpu_copy(to->mapped, source, bytes);
        shmemi_wait_stored((int)to->local, to->mapped, bytes);
        return;
    case BY_POST:
        if (posts_from(to, source)) shmemi_post_put(ctx, to, source, bytes, wait);
        else put_through_host(ctx, to, source, bytes);
        return;
    case BY_STAGE: shmemi_gpu_stage_put(ctx, to, source, bytes); return;
    }
}

static void get_through_host(struct shmemi_ctx *ctx, const struct shmemi_place *from, char *dest, size_t bytes)
{
    char *room = host_room(piece_of(bytes));
    for (size_t at = 0; at < bytes;) {
        size_t              piece = piece_of(bytes - at);
        struct shmemi_place part  = *from;
        part.offset += at;
        shmemi_post_get(ctx, &part, room, piece, SHMEMI_POST_LOCAL);
        shmemi_gpu_copy(dest + at, room, piece);
        at += piece;
    }
    free(room);
}

void shmemi_gpu_get(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t bytes, enum shmemi_post_wait wait)
{
    switch (way_of(from)) {
    case BY_DRIVER:
        if (wait == SHMEMI_POST_NBI && from->segment == SHMEMT_SEGMENT_GPU && shmemi_gpu_is(dest))
            shmemi_gpu_copy_nbi(dest, from->mapped, bytes);
        else shmemi_gpu_copy(dest, from->mapped, bytes);
        atomic_thread_fence(memory_order_acquire); /* as got_data() in rma.c */
        return;
    case BY_POST:
        if (posts_from(from, dest)) shmemi_post_get(ctx, from, dest, bytes, wait);
        else get_through_host(ctx, from, dest, bytes);
        return;
    case BY_STAGE: shmemi_gpu_stage_get(ctx, from, dest, bytes); return;
    }
}

/* ---- strided ---- */

/* How many blocks are copied through host memory together: at least one. */
static size_t blocks_at_once(size_t blocks, size_t bytes)
{
    if (blocks <= 1 || bytes >= PIECE_BYTES) return 1;
    size_t fit = PIECE_BYTES / bytes;
    return blocks < fit ? blocks : fit;
}

static struct shmemi_place moved(const struct shmemi_place *place, ptrdiff_t distance)
{
    struct shmemi_place part = *place;
    part.offset += (uint64_t)distance;
    return part;
}

void shmemi_gpu_put_strided(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t blocks, size_t bytes,
                            ptrdiff_t local_stride, ptrdiff_t remote_stride)
{
    const char *from = source;
    enum way    way  = way_of(to);
    if (way == BY_DRIVER) {
        shmemi_gpu_copy_strided(to->mapped, remote_stride, source, local_stride, blocks, bytes);
        shmemi_wait_stored((int)to->local, to->mapped, (blocks - 1) * (size_t)remote_stride + bytes);
    } else if (way == BY_POST && posts_from(to, source)) {
        shmemi_post_put_strided(ctx, to, source, blocks, bytes, local_stride, remote_stride);
    } else if (way == BY_POST) {
        size_t count = blocks_at_once(blocks, bytes);
        char  *room  = host_room(count * bytes);
        for (size_t at = 0; at < blocks; at += count) {
            struct shmemi_place part = moved(to, (ptrdiff_t)at * remote_stride);
            size_t              now  = blocks - at < count ? blocks - at : count;
            shmemi_gpu_copy_strided(room, (ptrdiff_t)bytes, from + (ptrdiff_t)at * local_stride, local_stride, now, bytes);
            shmemi_post_put_strided(ctx, &part, room, now, bytes, (ptrdiff_t)bytes, remote_stride);
        }
        free(room);
    } else {
        for (size_t i = 0; i < blocks; i++) {
            struct shmemi_place part = moved(to, (ptrdiff_t)i * remote_stride);
            shmemi_gpu_stage_put(ctx, &part, from + (ptrdiff_t)i * local_stride, bytes);
        }
    }
}

void shmemi_gpu_get_strided(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t blocks, size_t bytes,
                            ptrdiff_t local_stride, ptrdiff_t remote_stride)
{
    char    *to  = dest;
    enum way way = way_of(from);
    if (way == BY_DRIVER) {
        shmemi_gpu_copy_strided(dest, local_stride, from->mapped, remote_stride, blocks, bytes);
        atomic_thread_fence(memory_order_acquire);
    } else if (way == BY_POST && posts_from(from, dest)) {
        shmemi_post_get_strided(ctx, from, dest, blocks, bytes, local_stride, remote_stride);
    } else if (way == BY_POST) {
        size_t count = blocks_at_once(blocks, bytes);
        char  *room  = host_room(count * bytes);
        for (size_t at = 0; at < blocks; at += count) {
            struct shmemi_place part = moved(from, (ptrdiff_t)at * remote_stride);
            size_t              now  = blocks - at < count ? blocks - at : count;
            shmemi_post_get_strided(ctx, &part, room, now, bytes, (ptrdiff_t)bytes, remote_stride);
            shmemi_gpu_copy_strided(to + (ptrdiff_t)at * local_stride, local_stride, room, (ptrdiff_t)bytes, now, bytes);
        }
        free(room);
    } else {
        for (size_t i = 0; i < blocks; i++) {
            struct shmemi_place part = moved(from, (ptrdiff_t)i * remote_stride);
            shmemi_gpu_stage_get(ctx, &part, to + (ptrdiff_t)i * local_stride, bytes);
        }
    }
}

/* ---- words ---- */

static uint64_t amo_on_host(struct shmemi_ctx *ctx, const struct shmemi_place *at, struct shmemt_amo amo, bool fetches)
{
    uint64_t old8 = 0;
    uint32_t old4 = 0;
    if (at->mapped) {
        uint64_t old = shmemt_mapped_amo(at->mapped, &amo);
        if (amo.op != SHMEMT_AMO_FETCH) shmemi_wait_stored((int)at->local, at->mapped, amo.bytes);
        return old;
    }
    if (fetches) amo.fetch = amo.bytes == 4 ? (void *)&old4 : (void *)&old8;
    shmemi_post_amo(ctx, at, &amo, SHMEMI_POST_LOCAL);
    return amo.bytes == 4 ? old4 : old8;
}

static uint64_t amo_on_gpu(struct shmemi_ctx *ctx, const struct shmemi_place *at, const struct shmemt_amo *amo)
{
    if (!at->mapped || !shmemi_gpu.atomics[at->local]) return shmemi_gpu_stage_amo(ctx, at, amo);
    uint64_t old = shmemi_gpu_amo_do(at->mapped, amo);
    if (amo->op != SHMEMT_AMO_FETCH) shmemi_wait_stored((int)at->local, at->mapped, amo->bytes);
    return old;
}

void shmemi_gpu_amo(struct shmemi_ctx *ctx, const struct shmemi_place *at, const struct shmemt_amo *amo)
{
    struct shmemt_amo alone = *amo;
    alone.fetch             = NULL;
    alone.done              = NULL;
    uint64_t old =
        at->segment == SHMEMT_SEGMENT_GPU ? amo_on_gpu(ctx, at, &alone) : amo_on_host(ctx, at, alone, amo->fetch != NULL);
    uint32_t old4 = (uint32_t)old;
    if (amo->fetch) shmemi_gpu_copy(amo->fetch, amo->bytes == 4 ? (const void *)&old4 : (const void *)&old, amo->bytes);
}

/*
 * One post where the transport can carry both. Else the put is done, at the target too, before the signal is sent: the two go different ways, and
 * no fence of either orders them.
 */
void shmemi_gpu_put_signal(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                           const struct shmemi_place *signal, uint64_t value, enum shmemt_amo_op op)
{
    bool posted = bytes == 0 || way_of(to) == BY_POST;
    if (posted && signal->segment != SHMEMT_SEGMENT_GPU && !signal->mapped && (bytes == 0 || posts_from(to, source))) {
        shmemi_post_put_signal(ctx, to, source, bytes, signal, value, op, SHMEMI_POST_LOCAL);
        return;
    }
    const struct shmemt_amo update = {.op = op, .bytes = sizeof value, .value = value};
    if (bytes > 0) shmemi_gpu_put(ctx, to, source, bytes, SHMEMI_POST_LOCAL);
    if (bytes > 0 && posted) shmemi_post_quiet(ctx, to->pe);
    shmemi_gpu_amo(ctx, signal, &update);
}
