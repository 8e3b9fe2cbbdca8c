/* SPDX-License-Identifier: Apache-2.0
 *
 * A put and its signal: one chain of requests on one queue pair, so the data is there before the signal is.
 *
 * The CPU is the agent: the last write carries the signal in its immediate, and the target's CPU applies it when that write has arrived. A value
 * that does not fit follows as a message. A put that is cut over several queue pairs has its signal counted. The device is the agent: a write of the word (SET) or a fetch-add (ADD) behind the data.
 */
#include "transports/ibverbs/verbs.h"

static int room(struct lane *lane, struct link *link, size_t requests)
{
    if (!lane->verbs->nic && !message_window_open(link, 2)) return -EAGAIN;
    if (post_held_by_fence(link)) return -EAGAIN;
    if (queue_has_room(link, &link->queues[0], (uint32_t)requests)) return 0;
    if (lane->in_flight + requests > lane->in_flight_max) shmemt_ibverbs_queue_starved(lane);
    return -EAGAIN;
}

/* The last request of the batch takes the signal along; where there is none, an empty write. */
static void carry(struct batch *batch, unsigned before, uint32_t immediate)
{
    struct record *record;
    if (batch->count == before) {
        struct ibv_send_wr *wr  = batch_add(batch, IBV_WR_RDMA_WRITE, 0, RECORD_WRITE, &record);
        record->segment         = 0;
        record->offset          = 0;
        record->bytes           = 0;
        wr->wr.rdma.remote_addr = 0; /* of an empty write neither address nor key is looked at */
        wr->wr.rdma.rkey        = 0;
    }
    batch->wr[batch->count - 1].opcode   = IBV_WR_RDMA_WRITE_WITH_IMM;
    batch->wr[batch->count - 1].imm_data = immediate;
}

static int add_all(struct batch *batch, const struct ib_remote *data, const struct ib_remote *word, const struct shmemt_xfer *xfer,
                   const struct shmemt_amo *signal, struct message *message, bool *copied_out)
{
    struct link *link = batch->link;
    uint32_t     immediate;
    if (link->lane->verbs->nic) {
        int err = data ? shmemt_ibverbs_post_add_puts(batch, data, xfer, copied_out) : 0;
        return err ? err : shmemt_ibverbs_atomic_add_signal(batch, word, signal);
    }
    uint32_t next   = link->next;
    bool     fits   = shmemt_ibverbs_message_immediate(batch, signal, message, &immediate);
    unsigned before = batch->count;
    int      err    = data ? shmemt_ibverbs_post_add_puts(batch, data, xfer, copied_out) : 0;
    if (err) {
        if (before > 0) link->words_out[message->small].segment = -1; /* nobody was told of it */
        link->next = next;
        return err;
    }
    if (fits) {
        carry(batch, before, immediate);
        shmemt_ibverbs_message_count(link);
        return 0;
    }
    *message = (struct message){
        .kind    = MESSAGE_SIGNAL,
        .segment = (uint8_t)signal->segment,
        .op      = (uint8_t)signal->op,
        .offset  = signal->remote_offset,
        .value   = signal->value,
    };
    shmemt_ibverbs_message_add(batch, message, NULL, 0, NULL);
    return 0;
}

/*
 * Striped: each part tells that it is there, and the target counts. What it is to do then is in a message on the first queue pair. Its numbered
 * acknowledgement comes when the signal has been applied.
 */
static int put_signal_striped(struct link *link, const struct ib_remote *data, const struct shmemt_xfer *xfer,
                              const struct shmemt_amo *signal)
{
    struct batch   batch;
    uint32_t      *end = &link->striped_end[link->striped % STRIPED];
    struct message message;
    if (!message_window_open(link, 1)) return -EAGAIN;
    if (link->striped >= STRIPED && (int32_t)(link->acknowledged - *end) < 0) return -EAGAIN;
    int err = shmemt_ibverbs_post_stripes_ready(link, 2);
    if (err) return err;
    int parts =
        shmemt_ibverbs_post_stripes(link, data, xfer, IBV_WR_RDMA_WRITE_WITH_IMM, shmemt_ibverbs_message_part(link->striped));
    if (parts < 0) return parts;
    message = (struct message){
        .kind    = MESSAGE_SIGNAL,
        .segment = (uint8_t)signal->segment,
        .op      = (uint8_t)signal->op,
        .small   = (uint8_t)parts,
        .number  = link->striped,
        .offset  = signal->remote_offset,
        .value   = signal->value,
    };
    batch_begin(&batch, link, 0);
    shmemt_ibverbs_message_add(&batch, &message, NULL, 0, NULL);
    shmemt_ibverbs_queue_post(&batch);
    *end = link->next;
    link->striped++;
    return 0;
}

/* For BREAK_SIGNAL_QUEUE: the data alone, over the second queue pair. */
static int put_astray(struct link *link, const struct ib_remote *data, const struct shmemt_xfer *xfer)
{
    struct batch batch;
    bool         copied;
    if (!queue_has_room(link, &link->queues[1], (uint32_t)shmemt_mapped_pieces(xfer))) return -EAGAIN;
    batch_begin(&batch, link, 1);
    int err = shmemt_ibverbs_post_add_puts(&batch, data, xfer, &copied);
    if (err) shmemt_ibverbs_queue_cancel(&batch);
    batch.wants_completion = true;
    shmemt_ibverbs_queue_post(&batch);
    return err;
}

/* `done` tells when the source may be reused, and the last request of the chain comes after all that read it. */
static int put_signal(struct lane *lane, int pe, const struct ib_remote *data, const struct ib_remote *word,
                      const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct link   *link;
    struct batch   batch;
    struct message message;
    bool           copied = true;
    int            err    = post_link(lane, pe, &link);
    if (err) return err;
    if (!lane->verbs->nic && post_is_striped(lane->verbs, xfer)) return put_signal_striped(link, data, xfer, signal);
    err = room(lane, link, shmemt_mapped_pieces(xfer) + 2);
    if (err) return err;
    if (IBVERBS_BREAK == BREAK_SIGNAL_QUEUE && lane->verbs->queues > 1 && data && !xfer->done) {
        err = put_astray(link, data, xfer);
        if (err) return err;
        data = NULL;
    }
    batch_begin(&batch, link, 0);
    err = add_all(&batch, data, word, xfer, signal, &message, &copied);
    if (err) {
        shmemt_ibverbs_queue_cancel(&batch);
        return err;
    }
    if (xfer->done && !copied) {
        ((struct record *)(uintptr_t)batch.wr[batch.count - 1].wr_id)->done = xfer->done;
        batch.wants_completion                                              = true;
    }
    shmemt_ibverbs_queue_post(&batch);
    if (copied) shmemt_mapped_done(xfer->done);
    return 0;
}

static void put_signal_self(struct verbs *verbs, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct shmemt_amo update = *signal;
    update.done = NULL, update.fetch = NULL;
    shmemt_ibverbs_post_copy_self(verbs, SHMEMT_MAPPED_PUT, xfer);
    shmemt_ibverbs_post_update_self(verbs, &update);
}

int shmemt_ibverbs_signal_put(struct shmemt_ctx *base, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct ib_ctx          *ctx   = ctx_of(base);
    struct lane            *lane  = ctx->lane;
    struct verbs           *verbs = ctx->verbs;
    const struct ib_remote *data  = NULL, *word;
    size_t                  count = shmemt_mapped_pieces(xfer);
    if (!lane || (signal->op != SHMEMT_AMO_SET && signal->op != SHMEMT_AMO_ADD) || signal->bytes != 8) return -EINVAL;
    int err = post_find(verbs, pe, signal->segment, &word);
    if (err == -ENOTCONN) return shmemt_ibverbs_connect_start(lane, pe, signal->segment);
    if (!err) err = shmemt_mapped_check_amo(signal, word->bytes);
    if (!err && !word->host && !verbs->nic) err = -EINVAL; /* no CPU updates a word of GPU memory */
    if (!err && count > 0) err = post_find(verbs, pe, xfer->segment, &data);
    if (!err && count > 0) err = shmemt_mapped_check(xfer, data->bytes, &verbs->tp.traits);
    if (err) return err;
    if (post_is_self(verbs, pe, signal->segment) && (count == 0 || post_is_self(verbs, pe, xfer->segment)) &&
        xfer->local_memory == SHMEMT_MEMORY_HOST) {
        put_signal_self(verbs, xfer, signal);
        return 0;
    }
    shmemi_latch_take(&lane->lock);
    err = put_signal(lane, pe, data, word, xfer, signal);
    shmemi_latch_give(&lane->lock);
    return err == -ENOTCONN ? shmemt_ibverbs_connect_start(lane, pe, signal->segment) : err;
}
