/* SPDX-License-Identifier: Apache-2.0
 *
 * Queue pairs are made when a lane first has something for a peer. The two sides tell each other their numbers by datagrams.
 *
 *     REQUEST   here are my queue pairs; they wait
 *     REPLY     mine are connected to yours, and these are they
 *     READY     and now mine to yours
 *
 * Each datagram says all that its sender knows of itself, so any of them may be lost, come twice or late. A side connects with the first that it gets; it sends
 * once it knows that the other can receive: after a REPLY, a READY, or anything that came over the connection itself. A REQUEST is answered by a
 * REPLY, a REPLY by a READY. If both begin at once, each takes the other's REQUEST as what it waits for: there is one connection and
 * nobody has to win. What is not answered is repeated, at growing intervals.
 *
 * A PE that does not answer for POSTERN_IB_CONNECT_TIMEOUT is taken for dead, if it has a thread that would answer; else it is waited for.
 */
#include "transports/ibverbs/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS ((int64_t)1000000)

enum { AGAIN_MS = 10, AGAIN_MS_MAX = 500, TABLE_MIN = 64, RD_ATOMIC_MAX = 16 };
enum hello_kind { HELLO_REQUEST, HELLO_REPLY, HELLO_READY, HELLO_REFUSAL };

static uint32_t qkey(const struct verbs *verbs)
{
    return (uint32_t)(verbs->cookie >> 16) & 0x7fffffff; /* the highest bit is the kernel's */
}

/* ---- by number ---- */

static uint32_t slot_of(const struct verbs *verbs, uint32_t qpn)
{
    uint32_t at = qpn * 2654435761u & (verbs->by_qpn_size - 1);
    while (verbs->by_qpn[at].link && verbs->by_qpn[at].qpn != qpn) at = (at + 1) & (verbs->by_qpn_size - 1);
    return at;
}

struct link *shmemt_ibverbs_connect_by_qpn(const struct verbs *verbs, uint32_t qpn)
{
    return verbs->by_qpn_size ? verbs->by_qpn[slot_of(verbs, qpn)].link : NULL;
}

static int grow_table(struct verbs *verbs)
{
    struct verbs before = {.by_qpn = verbs->by_qpn, .by_qpn_size = verbs->by_qpn_size};
    uint32_t     size   = before.by_qpn_size ? 2 * before.by_qpn_size : TABLE_MIN;
    void        *table  = calloc(size, sizeof *verbs->by_qpn);
    if (!table) return -ENOMEM;
    verbs->by_qpn      = table;
    verbs->by_qpn_size = size;
    for (uint32_t i = 0; i < before.by_qpn_size; i++)
        if (before.by_qpn[i].link) verbs->by_qpn[slot_of(verbs, before.by_qpn[i].qpn)] = before.by_qpn[i];
    free(before.by_qpn);
    return 0;
}

/* A number that the device gives out again has a new link; the old one is dead. */
static int enter(struct verbs *verbs, uint32_t qpn, struct link *link)
{
    if (2 * (verbs->by_qpn_used + 1) > verbs->by_qpn_size) {
        int err = grow_table(verbs);
        if (err) return err;
    }
    uint32_t at = slot_of(verbs, qpn);
    if (!verbs->by_qpn[at].link) verbs->by_qpn_used++;
    verbs->by_qpn[at].qpn  = qpn;
    verbs->by_qpn[at].link = link;
    return 0;
}

/* ---- queue pairs ---- */

static int to_init(struct verbs *verbs, struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {
        .qp_state        = IBV_QPS_INIT,
        .port_num        = verbs->device.port.number,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | (verbs->nic ? IBV_ACCESS_REMOTE_ATOMIC : 0),
    };
    return -ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_receive(struct verbs *verbs, struct ibv_qp *qp, const struct ib_endpoint *theirs, uint32_t qpn, uint32_t psn)
{
    int                served = verbs->device.port.limits.max_qp_rd_atom;
    struct ibv_qp_attr attr   = {
          .qp_state           = IBV_QPS_RTR,
          .path_mtu           = shmemt_ibverbs_device_mtu(&verbs->device.port, theirs),
          .dest_qp_num        = qpn,
          .rq_psn             = psn,
          .max_dest_rd_atomic = (uint8_t)(served < RD_ATOMIC_MAX ? served : RD_ATOMIC_MAX),
          .min_rnr_timer      = 1, /* 10 us: a receive is posted again soon */
    };
    shmemt_ibverbs_device_path(&verbs->device.port, theirs, &attr.ah_attr);
    return -ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                              IBV_QP_MIN_RNR_TIMER);
}

static int to_send(struct verbs *verbs, struct ibv_qp *qp, uint32_t psn, unsigned rd_atomic)
{
    enum { FOR_EVER = 7 };
    unsigned           own  = (unsigned)verbs->device.port.limits.max_qp_init_rd_atom;
    struct ibv_qp_attr attr = {
        .qp_state      = IBV_QPS_RTS,
        .timeout       = verbs->timeout,
        .retry_cnt     = verbs->retries,
        .rnr_retry     = FOR_EVER,
        .sq_psn        = psn,
        .max_rd_atomic = (uint8_t)(own < rd_atomic ? own : rd_atomic),
    };
    return -ibv_modify_qp(
        qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static int create_queue(struct link *link, struct queue *queue)
{
    struct lane            *lane  = link->lane;
    struct verbs           *verbs = lane->verbs;
    struct ibv_qp_init_attr attr  = {
         .send_cq = lane->cq,
         .recv_cq = verbs->receive_cq,
         .srq     = verbs->srq,
         .cap     = {.max_send_wr = verbs->depth, .max_send_sge = 1, .max_inline_data = verbs->inline_bytes},
         .qp_type = IBV_QPT_RC,
    };
    queue->mask    = verbs->depth - 1;
    queue->records = calloc(verbs->depth, sizeof *queue->records);
    if (!queue->records) return -ENOMEM;
    for (uint32_t i = 0; i < verbs->depth; i++) queue->records[i] = (struct record){.link = link, .queue = queue};
    queue->qp = ibv_create_qp(verbs->pd, &attr);
    if (!queue->qp) return errno ? -errno : -ENOMEM;
    int err = to_init(verbs, queue->qp);
    return err ? err : enter(verbs, queue->qp->qp_num, link);
}

void shmemt_ibverbs_connect_break(struct link *link)
{
    for (unsigned i = 0; i < QUEUES_MAX; i++) {
        if (link->queues[i].qp) ibv_destroy_qp(link->queues[i].qp);
        link->queues[i].qp = NULL;
    }
    if (link->ah) ibv_destroy_ah(link->ah);
    link->ah = NULL;
}

void shmemt_ibverbs_connect_destroy_link(struct link *link)
{
    if (!link) return;
    shmemt_ibverbs_connect_break(link);
    for (unsigned i = 0; i < QUEUES_MAX; i++) free(link->queues[i].records);
    free(link);
}

static int create_link(struct lane *lane, int pe, struct link **link_out)
{
    struct verbs      *verbs   = lane->verbs;
    struct partner    *partner = shmemt_ibverbs_peer_meet(verbs, pe);
    struct link       *link    = partner ? calloc(1, sizeof *link) : NULL;
    struct ibv_ah_attr path;
    if (!link) return -ENOMEM;
    link->lane  = lane;
    link->pe    = pe;
    link->ended = true;
    link->psn   = (uint32_t)(shmemt_ibverbs_failure_now() * 2654435761u) & 0xffffff;
    for (int i = 0; i < WORDS; i++) link->words_in[i].segment = link->words_out[i].segment = -1;
    int err = 0;
    for (unsigned i = 0; i < verbs->queues && !err; i++) err = create_queue(link, &link->queues[i]);
    if (!err) {
        shmemt_ibverbs_device_path(&verbs->device.port, shmemt_ibverbs_peer_endpoint(verbs, pe), &path);
        link->ah = ibv_create_ah(verbs->pd, &path);
        if (!link->ah) err = errno ? -errno : -EHOSTUNREACH;
    }
    if (err) { /* the table may know it by number: it stays, dead */
        shmemt_ibverbs_connect_break(link);
        link->state = LINK_DEAD;
    }
    shmemi_latch_take(&lane->lock);
    partner->links[lane->number] = link;
    shmemi_latch_give(&lane->lock);
    *link_out = link;
    return err;
}

static int connect_queues(struct link *link, const struct ib_hello *hello)
{
    struct verbs *verbs = link->lane->verbs;
    int           err   = 0;
    if (hello->queues != verbs->queues) return -EPROTO;
    for (unsigned i = 0; i < verbs->queues && !err; i++) {
        err = to_receive(verbs, link->queues[i].qp, shmemt_ibverbs_peer_endpoint(verbs, link->pe), hello->qpn[i], hello->psn);
        if (!err) err = to_send(verbs, link->queues[i].qp, link->psn, hello->rd_atomic);
    }
    link->their_qpn = hello->qpn[0];
    return err;
}

static void set_state(struct link *link, enum link_state state)
{
    shmemi_latch_take(&link->lane->lock);
    link->state = state;
    shmemi_latch_give(&link->lane->lock);
}

static void note(struct link *link, int error, const char *why)
{
    shmemi_latch_take(&link->lane->lock);
    shmemt_ibverbs_failure_note(link, error, "cannot connect: %s (%s:%u)", why, link->lane->verbs->device.port.device,
                                link->lane->verbs->device.port.number);
    shmemi_latch_give(&link->lane->lock);
}

/* ---- datagrams ---- */

static void send_datagram(struct verbs *verbs, struct ibv_ah *ah, const struct ib_hello *hello)
{
    struct ibv_send_wr *bad;
    if (!ah || !verbs->free_datagrams) return; /* it will be repeated, or asked for again */
    unsigned index = (unsigned)__builtin_ctzll(verbs->free_datagrams);
    char    *data  = shmemt_ibverbs_progress_datagram(verbs, index);
    memcpy(data, hello, sizeof *hello);
    struct ibv_sge     sge = {.addr = (uintptr_t)data, .length = sizeof *hello, .lkey = verbs->buffers_mr->lkey};
    struct ibv_send_wr wr  = {
         .wr_id      = (uint64_t)TAG_DATAGRAM_OUT << TAG_SHIFT | index,
         .sg_list    = &sge,
         .num_sge    = 1,
         .opcode     = IBV_WR_SEND,
         .send_flags = IBV_SEND_SIGNALED,
         .wr.ud      = {.ah = ah, .remote_qpn = verbs->peers[hello->to].ud_qpn, .remote_qkey = qkey(verbs)},
    };
    if (ibv_post_send(verbs->ud, &wr, &bad) != 0) return;
    verbs->free_datagrams &= ~((uint64_t)1 << index);
    verbs->said++;
}

static void tell_regions(const struct verbs *verbs, struct ib_told *regions)
{
    for (int segment = 0; segment < SHMEMT_SEGMENT_USER; segment++)
        regions[segment] = (struct ib_told){.base  = (uint64_t)(uintptr_t)verbs->mine[segment].base,
                                            .bytes = verbs->mine[segment].bytes,
                                            .rkey  = verbs->mine[segment].rkey,
                                            .known = verbs->mine[segment].base != NULL,
                                            .host  = verbs->mine[segment].host};
}

static void say(struct link *link, enum hello_kind kind)
{
    struct verbs   *verbs  = link->lane->verbs;
    int             served = verbs->device.port.limits.max_qp_rd_atom;
    struct ib_hello hello  = {
         .cookie    = verbs->cookie,
         .from      = verbs->job->my_pe,
         .to        = link->pe,
         .kind      = (uint8_t)kind,
         .lane      = (uint8_t)link->lane->number,
         .queues    = (uint8_t)verbs->queues,
         .rd_atomic = (uint8_t)(served < RD_ATOMIC_MAX ? served : RD_ATOMIC_MAX),
         .psn       = link->psn,
    };
    for (unsigned i = 0; i < verbs->queues; i++)
        if (link->queues[i].qp) hello.qpn[i] = link->queues[i].qp->qp_num;
    tell_regions(verbs, hello.regions);
    send_datagram(verbs, link->ah, &hello);
    link->calls++;
}

/* Repeat it until it is answered. */
static void call(struct link *link)
{
    struct verbs *verbs = link->lane->verbs;
    int64_t       now   = shmemt_ibverbs_failure_now();
    link->interval_ns   = AGAIN_MS * MS;
    link->again_ns      = now + link->interval_ns;
    link->deadline_ns   = now + (int64_t)verbs->connect_s * 1000 * MS;
    if (link->calling) return;
    link->calling      = true;
    link->next_calling = verbs->calling;
    verbs->calling     = link;
}

/* A peer that is refused needs an answer too, though there is no link. */
static void refuse(struct verbs *verbs, const struct ib_hello *hello, int error)
{
    struct ibv_ah_attr path;
    struct ib_hello    refusal = {.cookie = verbs->cookie,
                                  .from   = verbs->job->my_pe,
                                  .to     = hello->from,
                                  .kind   = HELLO_REFUSAL,
                                  .lane   = hello->lane,
                                  .psn    = (uint32_t)-error};
    shmemt_ibverbs_device_path(&verbs->device.port, shmemt_ibverbs_peer_endpoint(verbs, hello->from), &path);
    struct ibv_ah *ah = ibv_create_ah(verbs->pd, &path);
    if (!ah) return;
    send_datagram(verbs, ah, &refusal);
    ibv_destroy_ah(ah);
}

static void take_refusal(struct link *link, const struct ib_hello *hello)
{
    if (!link || link->state != LINK_NEW) return;
    note(link, -(int)hello->psn,
         hello->psn == EPROTO ? "the PEs have different values of POSTERN_QPS" : "the peer could not make the queue pairs for it");
}

void shmemt_ibverbs_connect_take(struct verbs *verbs, const struct ib_hello *hello)
{
    if (hello->cookie != verbs->cookie || hello->to != verbs->job->my_pe) return;
    if (hello->from < 0 || hello->from >= verbs->job->npes || hello->queues > QUEUES_MAX) return;
    const struct peer *peer = &verbs->peers[hello->from];
    if (!peer->known || peer_is_lost(peer)) return;
    struct lane *lane = verbs->lanes[hello->lane];
    struct link *link = lane ? lane_link(lane, hello->from) : NULL;
    if (hello->kind == HELLO_REFUSAL) {
        take_refusal(link, hello);
        return;
    }
    int err = 0;
    if (!lane) lane = shmemt_ibverbs_module_lane(verbs, hello->lane);
    if (!lane) err = -ENOMEM;
    else if (!link) err = create_link(lane, hello->from, &link);
    if (!err && link->state == LINK_NEW) {
        err = connect_queues(link, hello);
        if (!err) shmemt_ibverbs_peer_hear(verbs, peer_partner(peer), hello->regions); /* before its links may be used */
        if (!err) set_state(link, hello->kind == HELLO_REQUEST ? LINK_ANSWERED : LINK_READY);
    } else if (!err && (link->state == LINK_DEAD || link->their_qpn != hello->qpn[0])) {
        return; /* a late one */
    } else if (!err && link->state == LINK_ANSWERED && hello->kind != HELLO_REQUEST) {
        set_state(link, LINK_READY);
    }
    if (err) {
        refuse(verbs, hello, err);
        if (link && link->state == LINK_NEW) note(link, err, strerror(-err));
        return;
    }
    if (hello->kind == HELLO_REQUEST) say(link, HELLO_REPLY);
    if (hello->kind == HELLO_REPLY) say(link, HELLO_READY);
    if (link->state == LINK_ANSWERED && !link->calling) call(link);
}

/* false: nothing is left to be repeated. */
static bool look_at(struct link *link, int64_t now)
{
    struct verbs *verbs = link->lane->verbs;
    if (link->state != LINK_NEW && link->state != LINK_ANSWERED) return false;
    if (atomic_load_explicit(&link->failing, memory_order_relaxed)) return false;
    if (now > link->deadline_ns) {
        if (!link->wanted) return false; /* the peer began, and is silent since: it may begin again */
        if (verbs->peers[link->pe].serves) {
            char why[64];
            snprintf(why, sizeof why, "no answer for %u s, its process may be gone", verbs->connect_s);
            note(link, -ETIMEDOUT, why);
            return false;
        }
    }
    if (now < link->again_ns) return true;
    say(link, link->state == LINK_NEW ? HELLO_REQUEST : HELLO_REPLY);
    link->interval_ns = 2 * link->interval_ns < AGAIN_MS_MAX * MS ? 2 * link->interval_ns : AGAIN_MS_MAX * MS;
    link->again_ns    = now + link->interval_ns;
    return true;
}

void shmemt_ibverbs_connect_look(struct verbs *verbs)
{
    int64_t       now  = shmemt_ibverbs_failure_now();
    struct link **from = &verbs->calling;
    while (*from) {
        struct link *link = *from;
        if (look_at(link, now)) {
            from = &link->next_calling;
        } else {
            link->calling = false;
            *from         = link->next_calling;
        }
    }
}

/* ---- beginning ---- */

/* To this PE itself: each queue pair is its own peer. */
static int connect_self(struct link *link)
{
    struct verbs   *verbs = link->lane->verbs;
    struct ib_hello hello = {.queues = (uint8_t)verbs->queues, .psn = link->psn, .rd_atomic = RD_ATOMIC_MAX};
    for (unsigned i = 0; i < verbs->queues; i++) hello.qpn[i] = link->queues[i].qp->qp_num;
    int err = connect_queues(link, &hello);
    if (!err) set_state(link, LINK_READY);
    return err;
}

static int begin(struct lane *lane, int pe, int segment)
{
    struct verbs *verbs = lane->verbs;
    struct link  *link  = lane_link(lane, pe);
    if (peer_is_lost(&verbs->peers[pe])) return -EHOSTDOWN;
    if (!shmemt_ibverbs_peer_imported(verbs, pe, segment)) return -ENXIO;
    if (!link) {
        int err = create_link(lane, pe, &link);
        if (!err && pe == verbs->job->my_pe) err = connect_self(link);
        if (err) return err;
    }
    if (link->state == LINK_DEAD || atomic_load_explicit(&link->failing, memory_order_relaxed)) return -EHOSTDOWN;
    if (link->state == LINK_READY) return 0;
    if (!link->wanted && link->state == LINK_NEW) say(link, HELLO_REQUEST);
    if (!link->wanted || !link->calling) call(link);
    link->wanted = true;
    return 0;
}

int shmemt_ibverbs_connect_start(struct lane *lane, int pe, int segment)
{
    shmemi_latch_take(&lane->verbs->lock);
    int err = begin(lane, pe, segment);
    shmemi_latch_give(&lane->verbs->lock);
    return err ? err : -EAGAIN;
}

int shmemt_ibverbs_connect_open(struct verbs *verbs)
{
    struct ibv_qp_init_attr init = {
        .send_cq = verbs->receive_cq,
        .recv_cq = verbs->receive_cq,
        .cap     = {.max_send_wr = verbs->datagrams, .max_recv_wr = verbs->datagrams, .max_send_sge = 1, .max_recv_sge = 1},
        .qp_type = IBV_QPT_UD,
    };
    verbs->ud = ibv_create_qp(verbs->pd, &init);
    if (!verbs->ud) return errno ? -errno : -ENOMEM;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = verbs->device.port.number, .qkey = qkey(verbs)};
    int                err  = ibv_modify_qp(verbs->ud, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    attr                    = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR};
    if (!err) err = ibv_modify_qp(verbs->ud, &attr, IBV_QP_STATE);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = 0};
    if (!err) err = ibv_modify_qp(verbs->ud, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
    return -err;
}
