/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics. One agent owns all words of a job.
 *
 * The target's CPU: a message, which its progress() carries out and answers where a value is wanted.
 *
 * The device: 64-bit ADD and CSWAP, and FETCH as an ADD of 0, are one request. It has nothing else, so all others are a loop: read the aligned 8 bytes
 * that hold the word, propose new ones, compare and swap; what the swap found is the next attempt's start. A SET is such a loop too, as a plain
 * write beside fetch-adds of others could be lost. The loops of a lane go on in progress(), the progress thread's too: completions of a lane
 * with loops are announced on the channel.
 */
#include "transports/ibverbs/verbs.h"

#include <stdlib.h>
#include <string.h>

void shmemt_ibverbs_atomic_result(void *fetch, unsigned bytes, uint64_t value)
{
    uint32_t half = (uint32_t)value; /* the low bytes, whatever the byte order here */
    if (bytes == 8) memcpy(fetch, &value, 8);
    else memcpy(fetch, &half, 4);
}

/* ---- by the target's CPU ---- */

static int send_message(struct link *link, const struct shmemt_amo *amo)
{
    struct batch   batch;
    struct message message = {
        .kind    = MESSAGE_AMO,
        .segment = (uint8_t)amo->segment,
        .op      = (uint8_t)amo->op,
        .small   = (uint8_t)(amo->bytes | (amo->fetch ? MESSAGE_WANTS_VALUE : 0)),
        .offset  = amo->remote_offset,
        .value   = amo->value,
        .compare = amo->compare,
    };
    if (!message_window_open(link, 1)) return -EAGAIN;
    int err = shmemt_ibverbs_queue_room(link, &link->queues[0], 1);
    if (err) return err;
    batch_begin(&batch, link, 0);
    shmemt_ibverbs_message_add(&batch, &message, amo->fetch, amo->bytes, amo->done);
    shmemt_ibverbs_queue_post(&batch);
    if (!amo->fetch) shmemt_mapped_done(amo->done);
    return 0;
}

/* ---- by the device, in one step ---- */

static uint64_t *take_result(struct lane *lane)
{
    if (!lane->results.base &&
        shmemt_ibverbs_memory_ring_create(lane->verbs->memory, sizeof(uint64_t), RESULTS, &lane->results) != 0)
        return NULL;
    return shmemt_ibverbs_memory_take_slot(&lane->results);
}

/* Add one request whose result comes into a slot of its own. NULL: there is none free. */
static struct ibv_send_wr *add_atomic(struct batch *batch, enum ibv_wr_opcode opcode, enum record_kind kind, uint64_t remote,
                                      uint32_t rkey, struct record **record_out)
{
    struct lane *lane   = batch->link->lane;
    uint64_t    *result = take_result(lane);
    if (!result) return NULL;
    struct ibv_send_wr *wr    = batch_add(batch, opcode, 0, kind, record_out);
    (*record_out)->slot       = result;
    wr->wr.atomic.remote_addr = remote;
    wr->wr.atomic.rkey        = rkey;
    batch_source(batch, wr, result, sizeof *result, lane->results.lkey);
    batch->wants_completion = true;
    return wr;
}

static bool is_one_step(const struct shmemt_amo *amo)
{
    return amo->bytes == 8 && (amo->op == SHMEMT_AMO_FETCH || amo->op == SHMEMT_AMO_ADD || amo->op == SHMEMT_AMO_CSWAP);
}

static int post_one_step(struct link *link, const struct ib_remote *remote, const struct shmemt_amo *amo)
{
    struct batch   batch;
    struct record *record;
    batch_begin(&batch, link, 0);
    struct ibv_send_wr *wr =
        add_atomic(&batch, amo->op == SHMEMT_AMO_CSWAP ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD, RECORD_ATOMIC,
                   remote->base + amo->remote_offset, remote->rkey, &record);
    if (!wr) return -EAGAIN;
    if (amo->op == SHMEMT_AMO_CSWAP) {
        wr->wr.atomic.compare_add = amo->compare;
        wr->wr.atomic.swap        = amo->value;
    } else {
        wr->wr.atomic.compare_add = amo->op == SHMEMT_AMO_ADD ? amo->value : 0;
        wr->wr.atomic.swap        = 0;
    }
    record->segment = (uint8_t)amo->segment;
    record->offset  = amo->remote_offset;
    record->bytes   = amo->bytes;
    record->local   = amo->fetch;
    record->done    = amo->done;
    shmemt_ibverbs_queue_post(&batch);
    return 0;
}

int shmemt_ibverbs_atomic_add_signal(struct batch *batch, const struct ib_remote *remote, const struct shmemt_amo *signal)
{
    struct record      *record;
    struct ibv_send_wr *wr;
    if (signal->op == SHMEMT_AMO_ADD) {
        wr = add_atomic(batch, IBV_WR_ATOMIC_FETCH_AND_ADD, RECORD_ATOMIC, remote->base + signal->remote_offset, remote->rkey,
                        &record);
        if (!wr) return -EAGAIN;
        wr->wr.atomic.compare_add = signal->value;
        wr->wr.atomic.swap        = 0;
    } else {
        wr = batch_add(batch, IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, RECORD_WRITE, &record);
        batch_source(batch, wr, &signal->value, sizeof signal->value, 0);
        wr->wr.rdma.remote_addr = remote->base + signal->remote_offset;
        wr->wr.rdma.rkey        = remote->rkey;
    }
    record->segment = (uint8_t)signal->segment;
    record->offset  = signal->remote_offset;
    record->bytes   = sizeof signal->value;
    return 0;
}

/* ---- by the device, in a loop ---- */

static uint64_t mask_of(const struct loop *loop)
{
    return loop->amo.bytes == 8 ? UINT64_MAX : (uint64_t)UINT32_MAX << loop->shift;
}

static uint64_t word_in(const struct loop *loop, uint64_t all)
{
    return (all & mask_of(loop)) >> loop->shift;
}

/* The 8 bytes as they should become, after `seen`. false: the word stays as it is, and all is done. */
static bool propose(struct loop *loop)
{
    uint64_t word = word_in(loop, loop->seen), value = loop->amo.value, new;
    uint64_t low = loop->amo.bytes == 8 ? UINT64_MAX : UINT32_MAX;
    switch (loop->amo.op) {
    default: return false; /* FETCH */
    case SHMEMT_AMO_SET: new = value; break;
    case SHMEMT_AMO_CSWAP:
        if (word != (loop->amo.compare & low)) return false;
        new = value;
        break;
    case SHMEMT_AMO_ADD: new = word + value; break;
    case SHMEMT_AMO_AND: new = word &value; break;
    case SHMEMT_AMO_OR: new = word | value; break;
    case SHMEMT_AMO_XOR: new = word ^ value; break;
    }
    loop->proposed = (loop->seen & ~mask_of(loop)) | (new &low) << loop->shift;
    return true;
}

static void free_loop(struct lane *lane, struct loop *loop)
{
    loop->link->loops--;
    lane->active_loops--;
    loop->link       = NULL;
    loop->next       = lane->free_loops;
    lane->free_loops = loop;
}

static void end_loop(struct lane *lane, struct loop *loop)
{
    if (loop->amo.fetch) shmemt_ibverbs_atomic_result(loop->amo.fetch, loop->amo.bytes, word_in(loop, loop->seen));
    shmemt_mapped_done(loop->amo.done);
    free_loop(lane, loop);
}

/* false: no room now. */
static bool post_signal(struct lane *lane, struct loop *loop)
{
    struct batch           batch;
    const struct ib_remote remote = {.base = loop->remote - loop->amo.remote_offset, .rkey = loop->rkey};
    batch_begin(&batch, loop->link, 0);
    if (shmemt_ibverbs_atomic_add_signal(&batch, &remote, &loop->amo) != 0) return false;
    struct record *record  = (struct record *)(uintptr_t)batch.wr[0].wr_id;
    record->kind           = RECORD_SIGNAL;
    record->loop           = loop;
    batch.wants_completion = true;
    ibv_req_notify_cq(lane->cq, 0);
    shmemt_ibverbs_queue_post(&batch);
    return true;
}

static bool post_step(struct lane *lane, struct loop *loop)
{
    struct batch   batch;
    struct record *record;
    if (!queue_has_room(loop->link, &loop->link->queues[0], 1)) return false;
    if (loop->signal) return post_signal(lane, loop);
    batch_begin(&batch, loop->link, 0);
    struct ibv_send_wr *wr = add_atomic(&batch, loop->read ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD, RECORD_LOOP,
                                        loop->remote, loop->rkey, &record);
    if (!wr) return false;
    wr->wr.atomic.compare_add = loop->read ? loop->seen : 0;
    wr->wr.atomic.swap        = loop->read ? loop->proposed : 0;
    record->segment           = (uint8_t)loop->amo.segment;
    record->offset            = loop->amo.remote_offset;
    record->bytes             = loop->amo.bytes;
    record->loop              = loop;
    ibv_req_notify_cq(lane->cq, 0); /* who goes away now leaves the next step to the progress thread */
    shmemt_ibverbs_queue_post(&batch);
    return true;
}

void shmemt_ibverbs_atomic_step(struct lane *lane, struct loop *loop, uint64_t value)
{
    bool won   = loop->read && value == loop->seen;
    loop->seen = value;
    loop->read = true;
    if (won || !propose(loop)) {
        end_loop(lane, loop);
        return;
    }
    loop->next          = lane->waiting_loops;
    lane->waiting_loops = loop;
}

int shmemt_ibverbs_atomic_advance(struct lane *lane)
{
    int posted = 0;
    while (lane->waiting_loops) {
        struct loop *loop = lane->waiting_loops, *next = loop->next;
        if (!post_step(lane, loop)) break;
        lane->waiting_loops = next;
        posted++;
    }
    return posted;
}

/* The peer is lost. */
void shmemt_ibverbs_atomic_end_loops(struct link *link)
{
    struct lane  *lane = link->lane;
    struct loop **from = &lane->waiting_loops;
    while (*from) {
        if ((*from)->link == link) *from = (*from)->next;
        else from = &(*from)->next;
    }
    for (int i = 0; lane->loops && i < LOOPS; i++) {
        struct loop *loop = &lane->loops[i];
        if (loop->link != link) continue;
        shmemt_mapped_done(loop->amo.done);
        free_loop(lane, loop);
    }
}

static bool loops_are_there(struct lane *lane)
{
    if (lane->loops) return true;
    lane->loops = calloc(LOOPS, sizeof *lane->loops);
    for (int i = 0; lane->loops && i < LOOPS; i++) {
        lane->loops[i].next = lane->free_loops;
        lane->free_loops    = &lane->loops[i];
    }
    return lane->loops;
}

static void begin_loop(struct lane *lane, struct link *link)
{
    lane->free_loops = lane->free_loops->next;
    link->loops++;
    lane->active_loops++;
}

static int start_loop(struct lane *lane, struct link *link, const struct ib_remote *remote, const struct shmemt_amo *amo)
{
    uint64_t offset = amo->remote_offset & ~(uint64_t)7;
    if (offset + 8 > remote->bytes) return -ERANGE; /* a region ends amid the 8 bytes that the device changes */
    if (!loops_are_there(lane)) return -ENOMEM;
    if (!lane->free_loops) return -EAGAIN;
    struct loop   *loop = lane->free_loops;
    const unsigned at   = (unsigned)(amo->remote_offset & 7);
    const uint16_t one  = 1;
    bool           low  = *(const uint8_t *)&one == 1; /* little-endian: the first byte is the lowest */
    begin_loop(lane, link);
    *loop = (struct loop){
        .link   = link,
        .amo    = *amo,
        .remote = remote->base + offset,
        .rkey   = remote->rkey,
        .shift  = amo->bytes == 8 ? 0 : 8 * (low ? at : 4 - at),
    };
    if (post_step(lane, loop)) return 0;
    free_loop(lane, loop);
    return -EAGAIN;
}

/* ---- signals by the device that wait for their data ---- */

struct loop *shmemt_ibverbs_atomic_hold_signal(struct link *link, const struct ib_remote *remote, const struct shmemt_amo *signal)
{
    struct lane *lane = link->lane;
    if (!loops_are_there(lane) || !lane->free_loops) return NULL;
    struct loop *loop = lane->free_loops;
    begin_loop(lane, link);
    *loop = (struct loop){
        .link   = link,
        .amo    = {.segment       = signal->segment,
                   .remote_offset = signal->remote_offset,
                   .op            = signal->op,
                   .bytes         = 8,
                   .value         = signal->value},
        .remote = remote->base + signal->remote_offset,
        .rkey   = remote->rkey,
        .signal = true,
    };
    ibv_req_notify_cq(lane->cq, 0); /* who goes away now leaves it to the progress thread */
    return loop;
}

void shmemt_ibverbs_atomic_release_signal(struct lane *lane, struct loop *loop)
{
    loop->next          = lane->waiting_loops;
    lane->waiting_loops = loop;
}

void shmemt_ibverbs_atomic_drop_signal(struct lane *lane, struct loop *loop)
{
    free_loop(lane, loop);
}

/* ---- the slot ---- */

static int amo_to_link(struct lane *lane, int pe, const struct ib_remote *remote, const struct shmemt_amo *amo)
{
    struct link *link;
    int          err = post_link(lane, pe, &link);
    if (err) return err;
    if (!lane->verbs->nic) return send_message(link, amo);
    if (!is_one_step(amo)) return start_loop(lane, link, remote, amo);
    err = shmemt_ibverbs_queue_room(link, &link->queues[0], 1);
    if (err) return err;
    return post_one_step(link, remote, amo);
}

int shmemt_ibverbs_atomic_amo(struct shmemt_ctx *base, int pe, const struct shmemt_amo *amo)
{
    struct ib_ctx          *ctx   = ctx_of(base);
    struct lane            *lane  = ctx->lane;
    struct verbs           *verbs = ctx->verbs;
    const struct ib_remote *remote;
    if (!lane) return -EINVAL;
    int err = post_find(verbs, pe, amo->segment, &remote);
    if (err == -ENOTCONN) return shmemt_ibverbs_connect_start(lane, pe, amo->segment);
    if (!err) err = shmemt_mapped_check_amo(amo, remote->bytes);
    if (!err && !remote->host && !verbs->nic) err = -EINVAL; /* no CPU updates a word of GPU memory */
    if (err) return err;
    if (post_is_self(verbs, pe, amo->segment)) {
        shmemt_mapped_amo_self(verbs->job, verbs->mine[amo->segment].base, amo);
        return 0;
    }
    shmemi_latch_take(&lane->lock);
    err = amo_to_link(lane, pe, remote, amo);
    shmemi_latch_give(&lane->lock);
    return err == -ENOTCONN ? shmemt_ibverbs_connect_start(lane, pe, amo->segment) : err;
}
