/* SPDX-License-Identifier: Apache-2.0
 *
 * The usual put in few instructions: one piece that goes inline, to a peer that is connected and where nothing has to be waited for. Anything
 * else is post.c's.
 *
 * Its work request lies ready in the lane: only address, key, length and record differ from put to put. No error is told here: what is
 * not as it should be goes the other way, which knows why.
 */
#include "transports/ibverbs/verbs.h"

void shmemt_ibverbs_usual_prepare(struct lane *lane)
{
    lane->usual = (struct ibv_send_wr){.sg_list = &lane->usual_source, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE};
}

/* The peer of a put whose shape is usual and whose place is there, or NULL. */
SHMEMI_INLINE const struct partner *find(const struct verbs *verbs, int pe, const struct shmemt_xfer *xfer)
{
    if (xfer->blocks != 1 || xfer->piece_count != 0 || xfer->bytes - 1 >= verbs->inline_bytes)
        return NULL; /* 0 bytes wrap around */
    if ((unsigned)pe >= (unsigned)verbs->npes || (unsigned)xfer->segment >= SHMEMT_SEGMENTS_MAX || pe == verbs->own_pe) return NULL;
    const struct partner *partner = peer_partner(&verbs->peers[pe]);
    if (!peer_heard(partner) || xfer->local_memory != SHMEMT_MEMORY_HOST) return NULL;
    uint64_t bytes = partner->remotes[xfer->segment].bytes;
    return xfer->bytes <= bytes && xfer->remote_offset <= bytes - xfer->bytes ? partner : NULL;
}

/* The link is connected, and neither a fence nor a full queue holds this put back. */
SHMEMI_INLINE bool is_open(const struct link *link)
{
    return link && link->state == LINK_READY && !link->fenced && !atomic_load_explicit(&link->failing, memory_order_relaxed) &&
           queue_has_room(link, &link->queues[0], 1);
}

SHMEMI_INLINE void post(struct lane *lane, struct link *link, const struct ib_remote *remote, const struct shmemt_xfer *xfer)
{
    struct ibv_send_wr *bad, *wr = &lane->usual;
    struct queue       *queue  = &link->queues[0];
    struct record      *record = record_begin(&queue->records[queue->posted & queue->mask], RECORD_WRITE);
    record->segment            = (uint8_t)xfer->segment;
    record->offset             = xfer->remote_offset;
    record->bytes              = xfer->bytes;
    lane->usual_source.addr    = (uintptr_t)xfer->local;
    lane->usual_source.length  = (uint32_t)xfer->bytes;
    wr->wr_id                  = (uintptr_t)record;
    wr->wr.rdma.remote_addr    = remote->base + xfer->remote_offset;
    wr->wr.rdma.rkey           = remote->rkey;
    wr->send_flags             = IBV_SEND_INLINE | queue_claim(link, queue, 1, false);
    queue_tail(link, queue);
    int err = ibv_post_send(queue->qp, wr, &bad);
    if (SHMEMI_UNLIKELY(err)) shmemt_ibverbs_queue_refused(link, err);
}

int shmemt_ibverbs_usual_put(struct shmemt_ctx *base, int pe, const struct shmemt_xfer *xfer)
{
    struct ib_ctx        *ctx     = ctx_of(base);
    struct lane          *lane    = ctx->lane;
    const struct partner *partner = find(ctx->verbs, pe, xfer);
    if (SHMEMI_UNLIKELY(!partner || !lane)) return shmemt_ibverbs_post_put(base, pe, xfer);
    shmemi_latch_take(&lane->lock);
    struct link *link = partner->links[lane->number];
    bool         open = is_open(link);
    if (SHMEMI_LIKELY(open)) post(lane, link, &partner->remotes[xfer->segment], xfer);
    shmemi_latch_give(&lane->lock);
    if (SHMEMI_UNLIKELY(!open)) return shmemt_ibverbs_post_put(base, pe, xfer);
    shmemt_mapped_done(xfer->done);
    return 0;
}
