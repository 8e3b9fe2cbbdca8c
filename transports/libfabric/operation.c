/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts, gets, atomics and signals: which way each piece takes.
 *
 *   to this PE itself        by CPU, at once
 *   small, or a word         where the provider may cut words: a message, which the target's CPU applies
 *   anything else            RMA
 *
 * A call that becomes several posts is accepted with the first of them. What the provider has no room for then waits in the context (one such
 * call at most), and every later call on the context waits behind it, so order is kept.
 */
#include "transports/libfabric/fabric.h"
#include "transports/mapped.h"

#include <assert.h>

void shmemt_libfabric_operation_end(struct fabric *fabric, _Atomic uint32_t *done, struct op *group)
{
    if (!group) {
        shmemt_mapped_done(done);
        return;
    }
    assert(group->kind == OP_GROUP && group->left > 0);
    if (--group->left > 0) return;
    shmemt_mapped_done(group->done);
    shmemt_libfabric_endpoint_free_op(fabric, group);
}

/* May anything go to pe now? */
static int find(struct fabric *fabric, int pe, int segment, struct remote **remote_out)
{
    if (pe < 0 || pe >= fabric->job->npes) return -ENXIO;
    if (fabric->peers[pe].lost || fabric->peers[pe].failing) return -EHOSTDOWN;
    *remote_out = shmemt_libfabric_memory_remote(fabric, pe, segment);
    return *remote_out ? 0 : -ENXIO;
}

/* ---- to this PE itself ---- */

static bool is_self(const struct fabric *fabric, int pe, int segment, enum shmemt_memory memory)
{
    const struct registered *mine = &fabric->mine[segment];
    return pe == fabric->job->my_pe && mine->host && mine->base && memory == SHMEMT_MEMORY_HOST;
}

static void copy_self(struct fabric *fabric, enum shmemt_mapped_direction direction, const struct shmemt_xfer *xfer)
{
    shmemt_mapped_xfer_self(fabric->job, direction, fabric->mine[xfer->segment].base, xfer);
}

static void update_self(struct fabric *fabric, const struct shmemt_amo *amo)
{
    shmemt_mapped_amo_self(fabric->job, fabric->mine[amo->segment].base, amo);
}

/* ---- RMA ---- */

/*
 * A write that follows a fence waits for the messages before it: they are in order until they arrive, but the target's CPU applies them when it comes
 * to it, and a write needs no CPU.
 */
static bool held_by_fence(const struct fabric *fabric, struct under_way *under_way, int pe)
{
    if (!under_way->fenced) return false;
    if ((int32_t)(fabric->peers[pe].acknowledged - under_way->fence_number) < 0) return true;
    under_way->fenced = false;
    return false;
}

/* One piece with the provider. */
struct rma {
    int                        pe;
    const struct remote       *remote;
    const struct shmemt_piece *piece;
    enum shmemt_memory         memory;
    bool                       copy;
    bool                       has_signal; /* goes along */
    uint64_t                   signal;
    _Atomic uint32_t          *done;
    struct op                 *group;
};

static void count_op(struct fabric_ctx *ctx, struct op *op, const struct rma *rma)
{
    op->ctx   = ctx;
    op->done  = rma->done;
    op->group = rma->group;
    ctx->ops++;
    ctx->peers[rma->pe].ops++;
}

/* A put to be copied: into the provider (flag) or into a slot, whichever it takes. */
static int take_copy(struct fabric *fabric, struct op *op, const struct rma *rma, void **local_io, void **descriptor_out,
                     uint64_t *flags_io)
{
    if (rma->piece->bytes <= fabric->inject_bytes) {
        *flags_io |= FI_INJECT;
        return 0;
    }
    struct buffer *slot = shmemt_libfabric_endpoint_take_send(fabric);
    if (!slot) return -EAGAIN;
    memcpy(slot->data, rma->piece->local, rma->piece->bytes);
    op->bounce      = slot;
    *local_io       = slot->data;
    *descriptor_out = fabric->sends_mr ? fi_mr_desc(fabric->sends_mr) : NULL;
    return 0;
}

static int post_write(struct fabric_ctx *ctx, const struct rma *rma)
{
    struct fabric    *fabric    = ctx->fabric;
    struct under_way *under_way = &ctx->peers[rma->pe];
    void             *local = rma->piece->local, *descriptor = NULL;
    /*
     * With order, a later message tells whether the write has landed, and this one ends when the source has been read, so that a program that waits
     * for that need not wait for the target. Who does not wait for it, gets the target's word at once, and quiet needs no message.
     */
    bool     deliver = !fabric->choice.ordered || !(rma->done || rma->group);
    uint64_t flags   = FI_COMPLETION | (deliver ? FI_DELIVERY_COMPLETE : 0) | (rma->has_signal ? FI_REMOTE_CQ_DATA : 0);
    if (held_by_fence(fabric, under_way, rma->pe)) return -EAGAIN;
    struct op *op = shmemt_libfabric_endpoint_take_op(fabric, OP_WRITE, rma->pe);
    if (!op) return -EAGAIN;
    op->bytes = rma->piece->bytes;
    int err   = rma->copy ? take_copy(fabric, op, rma, &local, &descriptor, &flags)
                          : shmemt_libfabric_memory_local(fabric, op, &local, op->bytes, rma->memory, &descriptor);
    if (!err) {
        const struct iovec      from = {.iov_base = local, .iov_len = op->bytes};
        const struct fi_rma_iov to   = {
              .addr = rma->remote->base + rma->piece->remote_offset, .len = op->bytes, .key = rma->remote->key};
        const struct fi_msg_rma msg = {
            .msg_iov       = &from,
            .desc          = &descriptor,
            .iov_count     = 1,
            .addr          = fabric->peers[rma->pe].address,
            .rma_iov       = &to,
            .rma_iov_count = 1,
            .context       = &op->context,
            .data          = rma->signal,
        };
        err = shmemt_libfabric_failure_answer(fabric, rma->pe, fi_writemsg(fabric->ep, &msg, flags), "write");
    }
    if (err) {
        shmemt_libfabric_endpoint_free_op(fabric, op);
        return err;
    }
    count_op(ctx, op, rma);
    if (!deliver && !under_way->unflushed) under_way->unflushed = true, ctx->unflushed++;
    return 0;
}

static int post_read(struct fabric_ctx *ctx, const struct rma *rma)
{
    struct fabric *fabric = ctx->fabric;
    struct op     *op     = shmemt_libfabric_endpoint_take_op(fabric, OP_READ, rma->pe);
    if (!op) return -EAGAIN;
    void *local = rma->piece->local, *descriptor;
    op->bytes   = rma->piece->bytes;
    int err     = shmemt_libfabric_memory_local(fabric, op, &local, op->bytes, rma->memory, &descriptor);
    if (!err)
        err =
            shmemt_libfabric_failure_answer(fabric, rma->pe,
                                            fi_read(fabric->ep, local, op->bytes, descriptor, fabric->peers[rma->pe].address,
                                                    rma->remote->base + rma->piece->remote_offset, rma->remote->key, &op->context),
                                            "read");
    if (err) {
        shmemt_libfabric_endpoint_free_op(fabric, op);
        return err;
    }
    count_op(ctx, op, rma);
    return 0;
}

/* ---- calls of several posts ---- */

static bool is_word(const struct shmemt_piece *piece)
{
    return (piece->bytes == 8 || piece->bytes == 4 || piece->bytes == 2) && piece->remote_offset % piece->bytes == 0;
}

/* By message? Where words may be cut, all small puts go that way, so that they cost the same whatever their size. */
static bool put_by_message(const struct fabric *fabric, const struct remote *remote, enum shmemt_memory memory, size_t bytes)
{
    return fabric->choice.cpu_words && remote->host && memory == SHMEMT_MEMORY_HOST && bytes <= COPY_BYTES_MAX;
}

static bool get_by_message(const struct fabric *fabric, const struct remote *remote, enum shmemt_memory memory,
                           const struct shmemt_piece *piece)
{
    return fabric->choice.cpu_words && remote->host && memory == SHMEMT_MEMORY_HOST && is_word(piece);
}

static int post_get_piece(struct fabric_ctx *ctx, const struct rma *rma, int segment)
{
    if (get_by_message(ctx->fabric, rma->remote, rma->memory, rma->piece))
        return shmemt_libfabric_message_load(ctx, rma->pe, segment, rma->piece, rma->done, rma->group);
    return post_read(ctx, rma);
}

static int post_put_piece(struct fabric_ctx *ctx, const struct rma *rma, int segment)
{
    if (!put_by_message(ctx->fabric, rma->remote, rma->memory, rma->piece->bytes)) return post_write(ctx, rma);
    int err = shmemt_libfabric_message_put(ctx, rma->pe, segment, rma->piece, 1, NULL);
    if (!err) shmemt_libfabric_operation_end(ctx->fabric, rma->done, rma->group);
    return err;
}

/* The signal goes with the last write where it fits into that. */
static int post_last_write_with_signal(struct fabric_ctx *ctx, struct rma *rma)
{
    struct pending *pending = &ctx->pending;
    if (put_by_message(ctx->fabric, rma->remote, rma->memory, rma->piece->bytes) ||
        !shmemt_libfabric_message_pack_signal(ctx->fabric, &pending->signal, &rma->signal))
        return post_put_piece(ctx, rma, pending->segment);
    rma->has_signal = true;
    int err         = post_write(ctx, rma);
    if (!err) pending->has_signal = false;
    return err;
}

static int post_next(struct fabric_ctx *ctx, const struct remote *remote)
{
    struct pending *pending = &ctx->pending;
    struct rma      rma     = {
                 .pe     = pending->pe,
                 .remote = remote,
                 .piece  = &pending->pieces[pending->at],
                 .memory = pending->memory,
                 .group  = pending->group,
    };
    if (rma.piece->bytes == 0) {
        if (rma.group) shmemt_libfabric_operation_end(ctx->fabric, NULL, rma.group);
        return 0;
    }
    if (pending->get) return post_get_piece(ctx, &rma, pending->segment);
    if (pending->has_signal && pending->at + 1 == pending->count) return post_last_write_with_signal(ctx, &rma);
    return post_put_piece(ctx, &rma, pending->segment);
}

/* The peer is lost: the rest counts as done. */
static void discard(struct fabric_ctx *ctx)
{
    struct pending *pending = &ctx->pending;
    for (; pending->at < pending->count; pending->at++)
        if (pending->group) shmemt_libfabric_operation_end(ctx->fabric, NULL, pending->group);
    set_pending(ctx, false);
}

/* 0: all is posted. -EAGAIN: not all. Another: the peer is lost. */
static int advance(struct fabric_ctx *ctx)
{
    struct pending *pending = &ctx->pending;
    struct remote  *remote;
    int             err = find(ctx->fabric, pending->pe, pending->segment, &remote);
    for (; !err && pending->at < pending->count; pending->at++) {
        err = post_next(ctx, remote);
        if (err) break;
    }
    if (!err && pending->has_signal) {
        err = shmemt_libfabric_message_put(ctx, pending->pe, pending->segment, NULL, 0, &pending->signal);
        if (!err) pending->has_signal = false;
    }
    if (!err) set_pending(ctx, false);
    return err;
}

bool shmemt_libfabric_operation_advance(struct fabric_ctx *ctx)
{
    if (!ctx->pending.active) return true;
    int err = advance(ctx);
    if (err == -EAGAIN) return false;
    if (err) discard(ctx);
    return true;
}

/* Copy the pieces into one slot of the ring, which goes with the group. */
static int copy_pieces(struct fabric *fabric, struct pending *pending)
{
    struct buffer *slot = shmemt_libfabric_endpoint_take_send(fabric);
    size_t         used = 0;
    if (!slot) return -EAGAIN;
    for (size_t i = 0; i < pending->count; i++) {
        struct shmemt_piece *piece = &pending->pieces[i];
        if (piece->bytes == 0) continue;
        memcpy(slot->data + used, piece->local, piece->bytes);
        piece->local = slot->data + used;
        used += piece->bytes;
    }
    pending->group->bounce = slot;
    return 0;
}

/* Accept a call: post what there is room for, and keep the rest. -EAGAIN: nothing of it was posted. */
static int begin(struct fabric_ctx *ctx, int pe, const struct shmemt_xfer *xfer, bool get, const struct shmemt_amo *signal)
{
    struct fabric  *fabric  = ctx->fabric;
    struct pending *pending = &ctx->pending;
    bool            copy    = !get && (xfer->flags & SHMEMT_XFER_COPY);
    pending->get            = get;
    pending->pe             = pe;
    pending->segment        = xfer->segment;
    pending->memory         = xfer->local_memory;
    pending->count          = shmemt_mapped_pieces(xfer);
    pending->at             = 0;
    pending->group          = NULL;
    pending->has_signal     = signal != NULL;
    if (signal) pending->signal = *signal;
    for (size_t i = 0; i < pending->count; i++) pending->pieces[i] = shmemt_mapped_piece(xfer, i);
    if ((xfer->done || copy) && pending->count > 0) {
        pending->group = shmemt_libfabric_endpoint_take_op(fabric, OP_GROUP, pe);
        if (!pending->group) return -EAGAIN;
        pending->group->left = (unsigned)pending->count;
        pending->group->done = copy ? NULL : xfer->done;
    }
    int err = copy ? copy_pieces(fabric, pending) : 0;
    if (!err) err = advance(ctx);
    if (err && pending->at == 0) {
        if (pending->group) shmemt_libfabric_endpoint_free_op(fabric, pending->group);
        return err;
    }
    if (err == -EAGAIN) set_pending(ctx, true);
    else if (err) discard(ctx);
    if (copy || pending->count == 0) shmemt_mapped_done(xfer->done);
    return 0;
}

/* ---- put ---- */

static size_t total_bytes(const struct shmemt_xfer *xfer)
{
    size_t total = 0;
    for (size_t i = 0; i < shmemt_mapped_pieces(xfer); i++) total += shmemt_mapped_piece(xfer, i).bytes;
    return total;
}

/* All of it, and the signal, in one message. */
static int put_whole_by_message(struct fabric_ctx *ctx, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct shmemt_piece pieces[PIECES_MAX];
    size_t              count = 0;
    for (size_t i = 0; i < shmemt_mapped_pieces(xfer); i++) {
        pieces[count] = shmemt_mapped_piece(xfer, i);
        if (pieces[count].bytes > 0) count++;
    }
    int err = count > 0 || signal ? shmemt_libfabric_message_put(ctx, pe, xfer->segment, pieces, count, signal) : 0;
    if (!err) shmemt_mapped_done(xfer->done);
    return err;
}

static int start_put(struct fabric_ctx *ctx, int pe, const struct remote *remote, const struct shmemt_xfer *xfer,
                     const struct shmemt_amo *signal)
{
    struct fabric *fabric = ctx->fabric;
    size_t         count = shmemt_mapped_pieces(xfer), total = total_bytes(xfer);
    bool           copy = xfer->flags & SHMEMT_XFER_COPY, host = remote && remote->host && xfer->local_memory == SHMEMT_MEMORY_HOST;
    if (!shmemt_libfabric_operation_advance(ctx)) return -EAGAIN;
    if (total == 0 || (host && total <= COPY_BYTES_MAX && (fabric->choice.cpu_words || signal || (copy && count > 1))))
        return put_whole_by_message(ctx, pe, xfer, signal);
    if (signal && !fabric->choice.ordered) {
        uint64_t data; /* without order only a single write can vouch for its data: by carrying the signal */
        if (count > 1 || !shmemt_libfabric_message_pack_signal(fabric, signal, &data)) return -ENOSYS;
    }
    if (count > 1 || signal) return begin(ctx, pe, xfer, false, signal);
    struct shmemt_piece piece = shmemt_mapped_piece(xfer, 0);
    const struct rma    rma   = {
             .pe     = pe,
             .remote = remote,
             .piece  = &piece,
             .memory = xfer->local_memory,
             .copy   = copy,
             .done   = copy ? NULL : xfer->done,
    };
    int err = post_write(ctx, &rma);
    if (!err && copy) shmemt_mapped_done(xfer->done);
    return err;
}

int shmemt_libfabric_operation_put(struct shmemt_ctx *base, int pe, const struct shmemt_xfer *xfer)
{
    struct fabric_ctx *ctx    = ctx_of(base);
    struct fabric     *fabric = ctx->fabric;
    struct remote     *remote;
    pthread_mutex_lock(&fabric->lock);
    int err = find(fabric, pe, xfer->segment, &remote);
    if (!err) err = shmemt_mapped_check(xfer, remote->bytes, &fabric->tp.traits);
    if (!err) {
        if (is_self(fabric, pe, xfer->segment, xfer->local_memory)) copy_self(fabric, SHMEMT_MAPPED_PUT, xfer);
        else err = start_put(ctx, pe, remote, xfer, NULL);
    }
    pthread_mutex_unlock(&fabric->lock);
    return err;
}

static int find_word(struct fabric *fabric, int pe, const struct shmemt_amo *amo)
{
    struct remote *remote;
    int            err = find(fabric, pe, amo->segment, &remote);
    if (!err) err = shmemt_mapped_check_amo(amo, remote->bytes);
    if (!err && !remote->host && !fabric->nic) err = -EINVAL; /* no CPU updates a word of GPU memory */
    return err;
}

int shmemt_libfabric_operation_put_signal(struct shmemt_ctx *base, int pe, const struct shmemt_xfer *xfer,
                                          const struct shmemt_amo *signal)
{
    struct fabric_ctx *ctx    = ctx_of(base);
    struct fabric     *fabric = ctx->fabric;
    struct remote     *remote = NULL;
    size_t             count  = shmemt_mapped_pieces(xfer);
    if (fabric->nic) return -ENOSYS; /* the device updates signals: put, fence, amo */
    pthread_mutex_lock(&fabric->lock);
    int err = find_word(fabric, pe, signal);
    if (!err && count > 0) err = find(fabric, pe, xfer->segment, &remote);
    if (!err && count > 0) err = shmemt_mapped_check(xfer, remote->bytes, &fabric->tp.traits);
    if (!err) {
        if (is_self(fabric, pe, xfer->segment, xfer->local_memory) && is_self(fabric, pe, signal->segment, SHMEMT_MEMORY_HOST)) {
            struct shmemt_amo update = *signal;
            update.done = NULL, update.fetch = NULL;
            copy_self(fabric, SHMEMT_MAPPED_PUT, xfer);
            update_self(fabric, &update);
        } else {
            err = start_put(ctx, pe, remote, xfer, signal);
        }
    }
    pthread_mutex_unlock(&fabric->lock);
    return err;
}

/* ---- get ---- */

static int start_get(struct fabric_ctx *ctx, int pe, const struct remote *remote, const struct shmemt_xfer *xfer)
{
    if (!shmemt_libfabric_operation_advance(ctx)) return -EAGAIN;
    if (shmemt_mapped_pieces(xfer) != 1) return begin(ctx, pe, xfer, true, NULL);
    struct shmemt_piece piece = shmemt_mapped_piece(xfer, 0);
    const struct rma    rma   = {.pe = pe, .remote = remote, .piece = &piece, .memory = xfer->local_memory, .done = xfer->done};
    if (piece.bytes > 0) return post_get_piece(ctx, &rma, xfer->segment);
    shmemt_mapped_done(xfer->done);
    return 0;
}

int shmemt_libfabric_operation_get(struct shmemt_ctx *base, int pe, const struct shmemt_xfer *xfer)
{
    struct fabric_ctx *ctx    = ctx_of(base);
    struct fabric     *fabric = ctx->fabric;
    struct remote     *remote;
    pthread_mutex_lock(&fabric->lock);
    int err = find(fabric, pe, xfer->segment, &remote);
    if (!err) err = shmemt_mapped_check(xfer, remote->bytes, &fabric->tp.traits);
    if (!err) {
        if (is_self(fabric, pe, xfer->segment, xfer->local_memory)) copy_self(fabric, SHMEMT_MAPPED_GET, xfer);
        else err = start_get(ctx, pe, remote, xfer);
    }
    pthread_mutex_unlock(&fabric->lock);
    return err;
}

/* ---- amo ---- */

int shmemt_libfabric_operation_amo(struct shmemt_ctx *base, int pe, const struct shmemt_amo *amo)
{
    struct fabric_ctx *ctx    = ctx_of(base);
    struct fabric     *fabric = ctx->fabric;
    pthread_mutex_lock(&fabric->lock);
    int err = find_word(fabric, pe, amo);
    if (!err && !fabric->nic && is_self(fabric, pe, amo->segment, SHMEMT_MEMORY_HOST)) {
        update_self(fabric, amo);
    } else if (!err) {
        if (!shmemt_libfabric_operation_advance(ctx)) err = -EAGAIN;
        else if (fabric->nic)
            err = shmemt_libfabric_native_amo(ctx, pe, shmemt_libfabric_memory_remote(fabric, pe, amo->segment), amo);
        else err = shmemt_libfabric_message_amo(ctx, pe, amo);
    }
    pthread_mutex_unlock(&fabric->lock);
    return err;
}
