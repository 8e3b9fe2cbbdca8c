/* SPDX-License-Identifier: Apache-2.0
 *
 * Puts and gets: a work request per piece, all of one call on one queue pair and with one doorbell. Large contiguous ones are cut over the
 * queue pairs of the link, where it has several.
 *
 * Sources. What fits into the request goes inline: the CPU copies it, and it may be reused at once. The rest of what is to be copied, and small
 * private memory, goes through a slot of the lane's ring. Symmetric memory is registered; large private memory is for the operation.
 */
#include "transports/ibverbs/verbs.h"

#include <string.h>

/* ---- local memory ---- */

static bool ring_is_there(struct lane *lane)
{
    return lane->ring.base || shmemt_ibverbs_memory_ring_create(lane->verbs->memory, COPY_BYTES_MAX, SLOTS, &lane->ring) == 0;
}

static int take_slot(struct lane *lane, void **slot_out)
{
    if (!ring_is_there(lane)) return -ENOMEM;
    *slot_out = shmemt_ibverbs_memory_take_slot(&lane->ring);
    return *slot_out ? 0 : -EAGAIN;
}

static size_t total_bytes(const struct shmemt_xfer *xfer)
{
    size_t total = 0;
    if (xfer->piece_count == 0) return xfer->bytes * xfer->blocks;
    for (size_t i = 0; i < xfer->piece_count; i++) total += xfer->pieces[i].bytes;
    return total;
}

/*
 * Symmetric, or registered for this operation. What all pieces of one need together may be more than there ever is: that is no matter of
 * waiting.
 */
static int use_in_place(struct batch *batch, struct record *record, struct ibv_send_wr *wr, const struct shmemt_piece *piece,
                        const struct shmemt_xfer *xfer, bool into)
{
    struct ib_memory *memory = batch->link->lane->verbs->memory;
    struct ib_local   local;
    int               err = shmemt_ibverbs_memory_local(memory, piece->local, piece->bytes, xfer->local_memory, into, &local);
    if (err == -EAGAIN && !shmemt_ibverbs_memory_possible(memory, total_bytes(xfer))) return -ENOMEM;
    if (err) return err;
    record->hold = local.hold;
    if (local.hold) batch->wants_completion = true;
    batch_source(batch, wr, local.address, piece->bytes, local.lkey);
    return 0;
}

static bool is_symmetric(const struct verbs *verbs, const struct shmemt_piece *piece, struct ib_local *local_out)
{
    return shmemt_ibverbs_memory_symmetric(verbs->memory, piece->local, piece->bytes, local_out);
}

/* ---- put ---- */

static struct ibv_send_wr *add_request(struct batch *batch, enum ibv_wr_opcode opcode, enum record_kind kind,
                                       const struct ib_remote *remote, int segment, const struct shmemt_piece *piece,
                                       struct record **record_out)
{
    struct ibv_send_wr *wr  = batch_add(batch, opcode, 0, kind, record_out);
    (*record_out)->segment  = (uint8_t)segment;
    (*record_out)->offset   = piece->remote_offset;
    (*record_out)->bytes    = piece->bytes;
    wr->wr.rdma.remote_addr = remote->base + piece->remote_offset;
    wr->wr.rdma.rkey        = remote->rkey;
    return wr;
}

static void send_inline(struct batch *batch, struct ibv_send_wr *wr, const struct shmemt_piece *piece)
{
    wr->send_flags |= IBV_SEND_INLINE;
    batch_source(batch, wr, piece->local, piece->bytes, 0);
}

/* All pieces are to be copied: those that do not go inline share one slot, which the last of them gives back. */
struct copier {
    char          *slot;
    size_t         used;
    struct record *last;
};

static int add_copy(struct batch *batch, struct copier *copier, struct ibv_send_wr *wr, struct record *record,
                    const struct shmemt_piece *piece)
{
    struct lane *lane = batch->link->lane;
    if (!copier->slot) {
        void *slot;
        int   err = take_slot(lane, &slot);
        if (err) return err;
        copier->slot = slot;
    } else {
        copier->last->slot = NULL;
    }
    memcpy(copier->slot + copier->used, piece->local, piece->bytes);
    batch_source(batch, wr, copier->slot + copier->used, piece->bytes, lane->ring.lkey);
    copier->used += piece->bytes;
    copier->last            = record;
    record->slot            = copier->slot;
    batch->wants_completion = true;
    return 0;
}

int shmemt_ibverbs_post_add_puts(struct batch *batch, const struct ib_remote *remote, const struct shmemt_xfer *xfer,
                                 bool *copied_out)
{
    struct verbs *verbs = batch->link->lane->verbs;
    size_t        count = shmemt_mapped_pieces(xfer);
    bool          host = xfer->local_memory == SHMEMT_MEMORY_HOST, copied = true;
    bool          small  = host && total_bytes(xfer) <= COPY_BYTES_MAX;
    struct copier copier = {0};
    for (size_t i = 0; i < count; i++) {
        struct shmemt_piece piece = shmemt_mapped_piece(xfer, i);
        struct record      *record;
        struct ib_local     local;
        int                 err = 0;
        if (piece.bytes == 0) continue;
        struct ibv_send_wr *wr = add_request(batch, IBV_WR_RDMA_WRITE, RECORD_WRITE, remote, xfer->segment, &piece, &record);
        if (host && piece.bytes <= verbs->inline_bytes) {
            send_inline(batch, wr, &piece);
        } else if (xfer->flags & SHMEMT_XFER_COPY) {
            err = add_copy(batch, &copier, wr, record, &piece);
        } else if (host && is_symmetric(verbs, &piece, &local)) {
            batch_source(batch, wr, local.address, piece.bytes, local.lkey);
            copied = false;
        } else if (small) {
            err = add_copy(batch, &copier, wr, record, &piece);
        } else {
            err    = use_in_place(batch, record, wr, &piece, xfer, false);
            copied = false;
        }
        if (err) return err;
    }
    *copied_out = copied;
    return 0;
}

/* ---- over several queue pairs ---- */

int shmemt_ibverbs_post_stripes_ready(struct link *link, unsigned requests)
{
    struct lane *lane = link->lane;
    if (post_held_by_fence(link) || !lane->free_stripes) return -EAGAIN;
    if (link->tail_fenced && !shmemt_ibverbs_queue_passed(link, &link->queues[0], link->fence_tail)) return -EAGAIN;
    link->tail_fenced = false;
    for (unsigned i = 0; i < lane->verbs->queues; i++)
        if (!queue_has_room(link, &link->queues[i], requests)) return -EAGAIN;
    if (lane->in_flight + requests * lane->verbs->queues <= lane->in_flight_max) return 0;
    shmemt_ibverbs_queue_starved(lane);
    return -EAGAIN;
}

static void post_part(struct link *link, unsigned queue, const struct ib_remote *remote, int segment,
                      const struct shmemt_piece *part, uint32_t lkey, struct stripes *stripes, enum ibv_wr_opcode opcode,
                      uint32_t immediate)
{
    struct batch   batch;
    struct record *record;
    batch_begin(&batch, link, queue);
    struct ibv_send_wr *wr =
        add_request(&batch, opcode, opcode == IBV_WR_RDMA_READ ? RECORD_READ : RECORD_WRITE, remote, segment, part, &record);
    batch_source(&batch, wr, part->local, part->bytes, lkey);
    record->stripes        = stripes;
    wr->imm_data           = immediate;
    batch.wants_completion = true;
    shmemt_ibverbs_queue_post(&batch);
}

struct stripes *shmemt_ibverbs_post_take_stripes(struct lane *lane, unsigned parts, struct loop *signal)
{
    struct stripes *stripes = lane->free_stripes;
    lane->free_stripes      = stripes->next;
    if (IBVERBS_BREAK == BREAK_HELD && signal) {
        shmemt_ibverbs_atomic_release_signal(lane, signal);
        signal = NULL;
    }
    *stripes = (struct stripes){.left = parts, .signal = signal};
    return stripes;
}

int shmemt_ibverbs_post_stripes(struct link *link, const struct ib_remote *remote, const struct shmemt_xfer *xfer,
                                enum ibv_wr_opcode opcode, uint32_t immediate, struct loop *signal)
{
    enum { PAGE = 4096 };
    struct lane    *lane  = link->lane;
    struct verbs   *verbs = lane->verbs;
    size_t          each  = (xfer->bytes / verbs->queues + PAGE - 1) / PAGE * PAGE;
    struct ib_local local;
    int err = shmemt_ibverbs_memory_local(verbs->memory, xfer->local, xfer->bytes, xfer->local_memory, opcode == IBV_WR_RDMA_READ,
                                          &local);
    if (err) return err;
    struct stripes *stripes = shmemt_ibverbs_post_take_stripes(lane, (unsigned)((xfer->bytes + each - 1) / each), signal);
    stripes->done           = xfer->done;
    stripes->hold           = local.hold;
    int parts               = (int)stripes->left;
    for (int i = 0; i < parts; i++) {
        size_t                    at   = (size_t)i * each;
        const struct shmemt_piece part = {.local         = local.address + at,
                                          .remote_offset = xfer->remote_offset + at,
                                          .bytes         = xfer->bytes - at < each ? xfer->bytes - at : each};
        post_part(link, (unsigned)i, remote, xfer->segment, &part, local.lkey, stripes, opcode, immediate);
    }
    return parts;
}

static int stripe(struct link *link, const struct ib_remote *remote, const struct shmemt_xfer *xfer, enum ibv_wr_opcode opcode)
{
    int err = shmemt_ibverbs_post_stripes_ready(link, 1);
    if (!err) err = shmemt_ibverbs_post_stripes(link, remote, xfer, opcode, 0, NULL);
    return err < 0 ? err : 0;
}

/* ---- put on one queue pair ---- */

static int put_pieces(struct link *link, const struct ib_remote *remote, const struct shmemt_xfer *xfer)
{
    struct batch batch;
    bool         copied;
    batch_begin(&batch, link, 0);
    int err = shmemt_ibverbs_post_add_puts(&batch, remote, xfer, &copied);
    if (err) {
        shmemt_ibverbs_queue_cancel(&batch);
        return err;
    }
    shmemt_ibverbs_queue_post_put(&batch, xfer->done, copied);
    return 0;
}

static int put_to_link(struct lane *lane, int pe, const struct ib_remote *remote, const struct shmemt_xfer *xfer)
{
    struct link *link;
    size_t       count = shmemt_mapped_pieces(xfer);
    int          err   = post_link(lane, pe, &link);
    if (err) return err;
    if (post_is_striped(lane->verbs, xfer)) return stripe(link, remote, xfer, IBV_WR_RDMA_WRITE);
    if (post_held_by_fence(link)) return -EAGAIN;
    err = shmemt_ibverbs_queue_room(link, &link->queues[0], count);
    if (err) return err;
    return put_pieces(link, remote, xfer);
}

int shmemt_ibverbs_post_put(struct shmemt_ctx *base, int pe, const struct shmemt_xfer *xfer)
{
    struct ib_ctx          *ctx   = ctx_of(base);
    struct lane            *lane  = ctx->lane;
    struct verbs           *verbs = ctx->verbs;
    const struct ib_remote *remote;
    if (!lane) return -EINVAL;
    int err = post_find(verbs, pe, xfer->segment, &remote);
    if (err == -ENOTCONN) return shmemt_ibverbs_connect_start(lane, pe, xfer->segment);
    if (!err) err = shmemt_mapped_check(xfer, remote->bytes, &verbs->tp.traits);
    if (err) return err;
    if (post_is_self(verbs, pe, xfer->segment) && xfer->local_memory == SHMEMT_MEMORY_HOST) {
        shmemt_mapped_xfer_self(verbs->job, SHMEMT_MAPPED_PUT, verbs->mine[xfer->segment].base, xfer);
        return 0;
    }
    shmemi_latch_take(&lane->lock);
    err = put_to_link(lane, pe, remote, xfer);
    shmemi_latch_give(&lane->lock);
    return err == -ENOTCONN ? shmemt_ibverbs_connect_start(lane, pe, xfer->segment) : err;
}

/* ---- get ---- */

static int add_get(struct batch *batch, const struct ib_remote *remote, const struct shmemt_xfer *xfer,
                   const struct shmemt_piece *piece)
{
    struct lane        *lane = batch->link->lane;
    struct record      *record;
    struct ib_local     local;
    struct ibv_send_wr *wr   = add_request(batch, IBV_WR_RDMA_READ, RECORD_READ, remote, xfer->segment, piece, &record);
    bool                host = xfer->local_memory == SHMEMT_MEMORY_HOST;
    if (host && is_symmetric(lane->verbs, piece, &local)) {
        batch_source(batch, wr, local.address, piece->bytes, local.lkey);
        return 0;
    }
    if (!host || piece->bytes > COPY_BYTES_MAX) return use_in_place(batch, record, wr, piece, xfer, true);
    int err = take_slot(lane, &record->slot);
    if (err) return err;
    record->local = piece->local;
    batch_source(batch, wr, record->slot, piece->bytes, lane->ring.lkey);
    return 0;
}

static int get_from_link(struct lane *lane, int pe, const struct ib_remote *remote, const struct shmemt_xfer *xfer)
{
    struct link *link;
    struct batch batch;
    size_t       count = shmemt_mapped_pieces(xfer);
    int          err   = post_link(lane, pe, &link);
    if (err) return err;
    if (post_is_striped(lane->verbs, xfer)) return stripe(link, remote, xfer, IBV_WR_RDMA_READ);
    err = shmemt_ibverbs_queue_room(link, &link->queues[0], count);
    if (err) return err;
    batch_begin(&batch, link, 0);
    for (size_t i = 0; i < count && !err; i++) {
        struct shmemt_piece piece = shmemt_mapped_piece(xfer, i);
        if (piece.bytes > 0) err = add_get(&batch, remote, xfer, &piece);
    }
    if (err) {
        shmemt_ibverbs_queue_cancel(&batch);
        return err;
    }
    if (batch.count == 0) {
        shmemt_mapped_done(xfer->done);
        return 0;
    }
    ((struct record *)(uintptr_t)batch.wr[batch.count - 1].wr_id)->done = xfer->done;
    batch.wants_completion                                              = true;
    shmemt_ibverbs_queue_post(&batch);
    return 0;
}

int shmemt_ibverbs_post_get(struct shmemt_ctx *base, int pe, const struct shmemt_xfer *xfer)
{
    struct ib_ctx          *ctx   = ctx_of(base);
    struct lane            *lane  = ctx->lane;
    struct verbs           *verbs = ctx->verbs;
    const struct ib_remote *remote;
    if (!lane) return -EINVAL;
    int err = post_find(verbs, pe, xfer->segment, &remote);
    if (err == -ENOTCONN) return shmemt_ibverbs_connect_start(lane, pe, xfer->segment);
    if (!err) err = shmemt_mapped_check(xfer, remote->bytes, &verbs->tp.traits);
    if (err) return err;
    if (post_is_self(verbs, pe, xfer->segment) && xfer->local_memory == SHMEMT_MEMORY_HOST) {
        shmemt_mapped_xfer_self(verbs->job, SHMEMT_MAPPED_GET, verbs->mine[xfer->segment].base, xfer);
        return 0;
    }
    shmemi_latch_take(&lane->lock);
    err = get_from_link(lane, pe, remote, xfer);
    shmemi_latch_give(&lane->lock);
    return err == -ENOTCONN ? shmemt_ibverbs_connect_start(lane, pe, xfer->segment) : err;
}
