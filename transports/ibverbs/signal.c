/* SPDX-License-Identifier: Apache-2.0
 *
 * A put and its signal. A signal never comes before its data; the ways to that:
 *
 *     one queue pair, CPU agent      one chain: the last write carries the signal in its immediate, and the target's CPU applies it when that write
 *                                    has arrived. A value that does not fit follows as a message
 *     one queue pair, device agent   one chain: behind the data a write of the word (SET) or a fetch-add (ADD)
 *     over several, or no order,     the signal is counted: each part tells that it is there, and a message says how many there are and what to
 *     CPU agent                      do then. Without order one part whose word is known carries the signal itself
 *     the same, device agent         the signal is held here until all parts have completed
 */
#include "transports/ibverbs/verbs.h"

static int room(struct link *link, size_t requests)
{
    if (!link->lane->verbs->nic && !message_window_open(link, 2)) return -EAGAIN;
    if (post_held_by_fence(link)) return -EAGAIN;
    return shmemt_ibverbs_queue_room(link, &link->queues[0], requests);
}

/* ---- one chain, in order ---- */

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
    shmemt_ibverbs_message_signal(batch, signal, 0, 0, message);
    return 0;
}

/* ---- counted: the parts have no order ---- */

/*
 * So few are under way that the target has a place for each. In order it is the one before the last of them that counts; without, what is
 * acknowledged is a number of messages, and each of those that are not may be one of these.
 */
static bool count_is_open(const struct link *link)
{
    if (!message_window_open(link, 2)) return false;
    if (link->lane->verbs->unordered) return link->next - link->acknowledged < STRIPED;
    return link->striped < STRIPED || (int32_t)(link->acknowledged - link->striped_end[link->striped % STRIPED]) >= 0;
}

/* Behind its parts in the batch or before; its numbered acknowledgement comes when the signal has been applied. */
static void add_count(struct batch *batch, const struct shmemt_amo *signal, unsigned parts, struct message *message)
{
    struct link *link = batch->link;
    shmemt_ibverbs_message_signal(batch, signal, parts, link->striped, message);
    link->striped_end[link->striped % STRIPED] = link->next;
    link->striped++;
}

static int put_signal_striped(struct link *link, const struct ib_remote *data, const struct shmemt_xfer *xfer,
                              const struct shmemt_amo *signal)
{
    struct batch   batch;
    struct message message;
    if (!count_is_open(link)) return -EAGAIN;
    int err = shmemt_ibverbs_post_stripes_ready(link, 2);
    if (err) return err;
    uint32_t part  = shmemt_ibverbs_message_part(link->striped);
    int      parts = shmemt_ibverbs_post_stripes(link, data, xfer, IBV_WR_RDMA_WRITE_WITH_IMM, part, NULL);
    if (parts < 0) return parts;
    batch_begin(&batch, link, 0);
    add_count(&batch, signal, (unsigned)parts, &message);
    shmemt_ibverbs_queue_post(&batch);
    return 0;
}

/* One queue pair without order. */
static int put_signal_counted(struct link *link, const struct ib_remote *data, const struct shmemt_xfer *xfer,
                              const struct shmemt_amo *signal)
{
    struct batch   batch;
    struct message messages[2];
    uint32_t       immediate;
    bool           copied = true;
    int            err    = count_is_open(link) ? room(link, shmemt_mapped_pieces(xfer) + 2) : -EAGAIN;
    if (err) return err;
    batch_begin(&batch, link, 0);
    err = data ? shmemt_ibverbs_post_add_puts(&batch, data, xfer, &copied) : 0;
    if (err) {
        shmemt_ibverbs_queue_cancel(&batch);
        return err;
    }
    unsigned parts = batch.count;
    if (parts <= 1 && shmemt_ibverbs_message_known(link, signal, &immediate)) {
        carry(&batch, 0, immediate);
        shmemt_ibverbs_message_count(link);
    } else {
        for (unsigned i = 0; i < parts; i++) {
            batch.wr[i].opcode   = IBV_WR_RDMA_WRITE_WITH_IMM;
            batch.wr[i].imm_data = shmemt_ibverbs_message_part(link->striped);
        }
        add_count(&batch, signal, parts, &messages[0]);
        shmemt_ibverbs_message_teach(&batch, signal, &messages[1]);
    }
    shmemt_ibverbs_queue_post_put(&batch, xfer->done, copied);
    return 0;
}

/* ---- held: the device is the agent, and the parts have no order ---- */

static int post_held(struct link *link, const struct ib_remote *data, const struct shmemt_xfer *xfer, struct loop *signal)
{
    struct batch batch;
    bool         copied;
    if (post_is_striped(link->lane->verbs, xfer)) {
        int parts = shmemt_ibverbs_post_stripes(link, data, xfer, IBV_WR_RDMA_WRITE, 0, signal);
        return parts < 0 ? parts : 0;
    }
    batch_begin(&batch, link, 0);
    int err = shmemt_ibverbs_post_add_puts(&batch, data, xfer, &copied);
    if (err) {
        shmemt_ibverbs_queue_cancel(&batch);
        return err;
    }
    /* Completions come in the order of the requests, so the last one stands for all. */
    struct record *last    = (struct record *)(uintptr_t)batch.wr[batch.count - 1].wr_id;
    last->stripes          = shmemt_ibverbs_post_take_stripes(link->lane, 1, signal);
    batch.wants_completion = true;
    shmemt_ibverbs_queue_post_put(&batch, xfer->done, copied);
    return 0;
}

static int put_signal_held(struct link *link, const struct ib_remote *data, const struct ib_remote *word,
                           const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct lane *lane    = link->lane;
    bool         striped = post_is_striped(lane->verbs, xfer);
    int          err     = striped ? shmemt_ibverbs_post_stripes_ready(link, 1) : room(link, shmemt_mapped_pieces(xfer));
    if (err || !lane->free_stripes) return -EAGAIN;
    struct loop *held = shmemt_ibverbs_atomic_hold_signal(link, word, signal);
    if (!held) return -EAGAIN;
    err = post_held(link, data, xfer, held);
    if (err) shmemt_ibverbs_atomic_drop_signal(lane, held);
    return err;
}

/* ---- which of them ---- */

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

static bool has_bytes(const struct shmemt_xfer *xfer)
{
    bool any = false;
    for (size_t i = 0; i < shmemt_mapped_pieces(xfer) && !any; i++) any = shmemt_mapped_piece(xfer, i).bytes > 0;
    return any;
}

static int put_signal_chain(struct link *link, const struct ib_remote *data, const struct ib_remote *word,
                            const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct batch   batch;
    struct message message;
    bool           copied = true;
    int            err    = room(link, shmemt_mapped_pieces(xfer) + 2);
    if (err) return err;
    if (IBVERBS_BREAK == BREAK_SIGNAL_QUEUE && link->lane->verbs->queues > 1 && data && !xfer->done) {
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
    shmemt_ibverbs_queue_post_put(&batch, xfer->done, copied);
    return 0;
}

static int put_signal(struct lane *lane, int pe, const struct ib_remote *data, const struct ib_remote *word,
                      const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct link  *link;
    struct verbs *verbs = lane->verbs;
    int           err   = post_link(lane, pe, &link);
    if (err) return err;
    bool striped = post_is_striped(verbs, xfer);
    if (verbs->nic && (striped || verbs->unordered) && has_bytes(xfer)) return put_signal_held(link, data, word, xfer, signal);
    if (striped) return put_signal_striped(link, data, xfer, signal);
    if (verbs->unordered && !verbs->nic) return put_signal_counted(link, data, xfer, signal);
    return put_signal_chain(link, data, word, xfer, signal);
}

static void put_signal_self(struct verbs *verbs, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    struct shmemt_amo update = *signal;
    update.done = NULL, update.fetch = NULL;
    shmemt_mapped_xfer_self(verbs->job, SHMEMT_MAPPED_PUT, verbs->mine[xfer->segment].base, xfer);
    shmemt_mapped_amo_self(verbs->job, verbs->mine[signal->segment].base, &update);
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
