/* SPDX-License-Identifier: Apache-2.0
 *
 * What arrives, fence, quiet, and sleep.
 *
 * Order. A queue pair delivers in order: a write comes after the writes and atomics before it, a message after all of them. What is left is a write
 * after a numbered message: it may land before the target's CPU has come to the message. So a fence notes the number of the last message, and
 * a later write waits until that has been acknowledged. An atomic that is a loop must end before the fence does. With several queue pairs those
 * behind the first must be empty, and what is striped later waits for the first. Without order a fence waits for all.
 *
 * Completion. quiet waits for the requests of the context to complete, which the target's device acknowledges, for its numbered messages to be
 * acknowledged by the target's CPU, and for its loops.
 */
#include "transports/ibverbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { BATCH = 32, ROUNDS_MAX = 4, ROUTE_BYTES = 40 };

/* ---- receives ---- */

static char *message_buffer(const struct verbs *verbs, unsigned index)
{
    return verbs->buffers + (size_t)index * RECEIVE_BYTES;
}

static char *datagram_buffer(const struct verbs *verbs, unsigned index)
{
    return verbs->buffers + (size_t)verbs->receives * RECEIVE_BYTES + (size_t)index * DATAGRAM_BYTES;
}

char *shmemt_ibverbs_progress_datagram(struct verbs *verbs, unsigned index)
{
    return datagram_buffer(verbs, verbs->datagrams + index);
}

static uint64_t tagged(enum tag tag, unsigned index)
{
    return (uint64_t)tag << TAG_SHIFT | index;
}

/* Receives to be posted again, with one doorbell for those of the shared queue. */
struct refill {
    unsigned           count;
    struct ibv_recv_wr wr[BATCH];
    struct ibv_sge     sge[BATCH];
};

static void refill_message(struct verbs *verbs, struct refill *refill, unsigned index)
{
    unsigned at = refill->count++;
    refill->sge[at] =
        (struct ibv_sge){.addr = (uintptr_t)message_buffer(verbs, index), .length = RECEIVE_BYTES, .lkey = verbs->buffers_mr->lkey};
    refill->wr[at] = (struct ibv_recv_wr){.wr_id = tagged(TAG_MESSAGE, index), .sg_list = &refill->sge[at], .num_sge = 1};
    if (at > 0) refill->wr[at - 1].next = &refill->wr[at];
}

static int refill_post(struct verbs *verbs, struct refill *refill)
{
    struct ibv_recv_wr *bad;
    int                 err = refill->count > 0 ? ibv_post_srq_recv(verbs->srq, refill->wr, &bad) : 0;
    refill->count           = 0;
    return -err;
}

static int receive_datagram(struct verbs *verbs, unsigned index)
{
    struct ibv_recv_wr *bad;
    struct ibv_sge      sge = {
             .addr = (uintptr_t)datagram_buffer(verbs, index), .length = DATAGRAM_BYTES, .lkey = verbs->buffers_mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = tagged(TAG_DATAGRAM_IN, index), .sg_list = &sge, .num_sge = 1};
    return -ibv_post_recv(verbs->ud, &wr, &bad);
}

static void take_message(struct verbs *verbs, const struct ibv_wc *wc, unsigned index)
{
    struct link *link = shmemt_ibverbs_connect_by_qpn(verbs, wc->qp_num);
    if (!link || link->state == LINK_DEAD || wc->status != IBV_WC_SUCCESS) return;
    if (wc->wc_flags & IBV_WC_WITH_IMM) shmemt_ibverbs_message_serve_immediate(link, wc->imm_data);
    else shmemt_ibverbs_message_serve(link, message_buffer(verbs, index), wc->byte_len);
}

static void take_datagram(struct verbs *verbs, const struct ibv_wc *wc, unsigned index)
{
    struct ib_hello hello;
    if (wc->status == IBV_WC_SUCCESS && wc->byte_len >= ROUTE_BYTES + sizeof hello) {
        memcpy(&hello, datagram_buffer(verbs, index) + ROUTE_BYTES, sizeof hello);
        shmemt_ibverbs_connect_take(verbs, &hello);
    }
    receive_datagram(verbs, index);
}

static void take(struct verbs *verbs, const struct ibv_wc *wc, struct refill *refill)
{
    unsigned index = (unsigned)(wc->wr_id & UINT32_MAX);
    switch ((enum tag)(wc->wr_id >> TAG_SHIFT)) {
    case TAG_MESSAGE:
        verbs->received++;
        take_message(verbs, wc, index);
        refill_message(verbs, refill, index);
        break;
    case TAG_DATAGRAM_IN: take_datagram(verbs, wc, index); break;
    case TAG_DATAGRAM_OUT: verbs->free_datagrams |= (uint64_t)1 << index; break;
    }
}

int shmemt_ibverbs_progress_receive(struct verbs *verbs)
{
    struct ibv_wc completions[BATCH];
    struct refill refill; /* only its count is set: it is large */
    int           handled = 0, count;
    refill.count          = 0;
    for (int round = 0; round < ROUNDS_MAX; round++) {
        count = ibv_poll_cq(verbs->receive_cq, BATCH, completions);
        if (count <= 0) break;
        for (int i = 0; i < count; i++) take(verbs, &completions[i], &refill);
        handled += count;
        refill_post(verbs, &refill);
        if (count < BATCH) break;
    }
    if (verbs->debtors) shmemt_ibverbs_message_answer(verbs);
    if (verbs->calling) shmemt_ibverbs_connect_look(verbs);
    return handled;
}

int shmemt_ibverbs_progress_open(struct verbs *verbs)
{
    struct refill refill;
    size_t        bytes = (size_t)verbs->receives * RECEIVE_BYTES + 2 * (size_t)verbs->datagrams * DATAGRAM_BYTES;
    size_t        page  = (size_t)sysconf(_SC_PAGESIZE);
    refill.count        = 0;
    verbs->buffers      = aligned_alloc(page, (bytes + page - 1) / page * page);
    if (!verbs->buffers) return -ENOMEM;
    memset(verbs->buffers, 0, bytes);
    verbs->buffers_mr = ibv_reg_mr(verbs->pd, verbs->buffers, bytes, IBV_ACCESS_LOCAL_WRITE);
    if (!verbs->buffers_mr) return -errno;
    int err = 0;
    for (unsigned i = 0; i < verbs->receives && !err; i++) {
        refill_message(verbs, &refill, i);
        if (refill.count == BATCH || i + 1 == verbs->receives) err = refill_post(verbs, &refill);
    }
    for (unsigned i = 0; i < verbs->datagrams && !err; i++) err = receive_datagram(verbs, i);
    verbs->free_datagrams = verbs->datagrams == 64 ? UINT64_MAX : ((uint64_t)1 << verbs->datagrams) - 1;
    return err;
}

/* ---- progress ---- */

/* Reading the clock costs as much as an idle turn. */
enum { TURNS_PER_CLOCK = 128 };

static int move_lane(struct lane *lane, bool looks)
{
    shmemi_latch_take(&lane->lock);
    int handled = shmemt_ibverbs_queue_poll(lane);
    if (lane->waiting_loops) handled += shmemt_ibverbs_atomic_advance(lane);
    if (lane->dirty && looks) shmemt_ibverbs_failure_look(lane);
    shmemi_latch_give(&lane->lock);
    return handled;
}

int shmemt_ibverbs_progress_ctx(struct shmemt_ctx *base)
{
    struct ib_ctx *ctx     = ctx_of(base);
    struct verbs  *verbs   = ctx->verbs;
    int            handled = 0;
    /* Who has the lock serves what arrives, for all. */
    if (shmemi_latch_try(&verbs->lock)) {
        handled += shmemt_ibverbs_progress_receive(verbs);
        for (unsigned i = 0; !ctx->lane && i < LANES_MAX; i++)
            if (verbs->lanes[i]) handled += move_lane(verbs->lanes[i], true);
        shmemi_latch_give(&verbs->lock);
    }
    bool looks = ++ctx->turns % TURNS_PER_CLOCK == 0;
    if (ctx->lane && (looks || lane_awaited(ctx->lane) > 0)) handled += move_lane(ctx->lane, looks);
    if (atomic_load_explicit(&verbs->failures, memory_order_relaxed)) {
        int err = shmemt_ibverbs_failure_tell(verbs);
        if (err) return err;
    }
    return handled;
}

/* ---- order and completion ---- */

static bool all_done(struct link *link)
{
    if (link->state == LINK_DEAD) return link->ended;
    bool drained = shmemt_ibverbs_queue_drained(link);
    return drained && message_all_answered(link) && link->loops == 0;
}

static int quiet_lane(struct lane *lane, int pe)
{
    struct link **from = &lane->dirty;
    int           err  = 0;
    while (*from) {
        struct link *link = *from;
        if (pe != SHMEMT_ALL_PES && link->pe != pe) {
            from = &link->next_dirty;
        } else if (all_done(link)) {
            link->dirty = false;
            *from       = link->next_dirty;
        } else {
            err  = -EAGAIN;
            from = &link->next_dirty;
        }
    }
    return err;
}

int shmemt_ibverbs_progress_quiet(struct shmemt_ctx *base, int pe)
{
    struct ib_ctx *ctx   = ctx_of(base);
    struct verbs  *verbs = ctx->verbs;
    if (pe != SHMEMT_ALL_PES && (pe < 0 || pe >= verbs->job->npes)) return -EINVAL;
    if (pe != SHMEMT_ALL_PES && peer_is_lost(&verbs->peers[pe])) return -EHOSTDOWN;
    int err = 0;
    if (ctx->lane) {
        shmemi_latch_take(&ctx->lane->lock);
        err = quiet_lane(ctx->lane, pe);
        shmemi_latch_give(&ctx->lane->lock);
    }
    /* seq_cst: what is done is visible before anything that the caller reads or tells others afterwards. */
    if (!err) atomic_thread_fence(memory_order_seq_cst);
    return err;
}

static bool striped_is_under_way(const struct link *link)
{
    return link->striped > 0 && (int32_t)(link->acknowledged - link->striped_end[(link->striped - 1) % STRIPED]) < 0;
}

/* 0, or -EAGAIN: something must end first. */
static int fence_link(struct link *link)
{
    if (link->state != LINK_READY || IBVERBS_BREAK == BREAK_FENCE) return 0;
    if (link->lane->verbs->unordered) return all_done(link) ? 0 : -EAGAIN;
    if (link->loops > 0 || striped_is_under_way(link)) return -EAGAIN;
    if (link->acknowledged != link->next) {
        link->fenced       = true;
        link->fence_number = link->next;
    }
    int err = 0;
    for (unsigned i = 1; i < link->lane->verbs->queues; i++)
        if (!shmemt_ibverbs_queue_passed(link, &link->queues[i], link->queues[i].tail)) err = -EAGAIN;
    if (link->lane->verbs->queues > 1) {
        link->tail_fenced = true;
        link->fence_tail  = link->queues[0].tail;
    }
    return err;
}

int shmemt_ibverbs_progress_fence(struct shmemt_ctx *base, int pe)
{
    struct ib_ctx *ctx   = ctx_of(base);
    struct verbs  *verbs = ctx->verbs;
    int            err   = 0;
    if (pe != SHMEMT_ALL_PES && (pe < 0 || pe >= verbs->job->npes)) return -EINVAL;
    atomic_thread_fence(memory_order_release); /* this CPU's stores to its own memory; pairs with the waiter's acquire */
    if (!ctx->lane) return 0;
    shmemi_latch_take(&ctx->lane->lock);
    for (struct link *link = ctx->lane->dirty; link; link = link->next_dirty)
        if (pe == SHMEMT_ALL_PES || link->pe == pe) err = fence_link(link) ? -EAGAIN : err;
    shmemi_latch_give(&ctx->lane->lock);
    return err;
}

/* ---- sleep ---- */

static void drain_channel(struct verbs *verbs)
{
    struct ibv_cq *cq;
    void          *unused;
    while (ibv_get_cq_event(verbs->channel, &cq, &unused) == 0) ibv_ack_cq_events(cq, 1);
}

static bool loops_wait(struct verbs *verbs)
{
    bool wait = false;
    for (unsigned i = 0; i < LANES_MAX; i++) {
        struct lane *lane = verbs->lanes[i];
        if (!lane) continue;
        shmemi_latch_take(&lane->lock);
        if (lane->active_loops > 0) ibv_req_notify_cq(lane->cq, 0);
        if (lane->waiting_loops) wait = true;
        shmemi_latch_give(&lane->lock);
    }
    return wait;
}

int shmemt_ibverbs_progress_arm(struct shmemt_ctx *base)
{
    struct verbs *verbs = ctx_of(base)->verbs;
    int           fd    = verbs->wait_fd;
    if (fd < 0) return -1;
    shmemi_latch_take(&verbs->lock);
    drain_channel(verbs);
    shmemt_ibverbs_failure_events(verbs);
    /* What repeats by the clock, or waits for room, no descriptor announces. */
    if (ibv_req_notify_cq(verbs->receive_cq, 0) != 0) fd = -1;
    if (verbs->calling || verbs->debtors || loops_wait(verbs)) fd = -1;
    if (atomic_load_explicit(&verbs->failures, memory_order_relaxed)) fd = -1;
    shmemi_latch_give(&verbs->lock);
    return fd;
}
