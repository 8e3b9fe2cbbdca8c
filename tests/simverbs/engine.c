/* SPDX-License-Identifier: Apache-2.0
 *
 * The NIC: it takes packets from the rings, lands them, answers, sends what is posted and keeps the timers. It is run by
 * a thread of its own and by whoever calls a verb; sim.lock is held throughout.
 *
 * Rings lose nothing and keep their order, so there are no sequence numbers of packets and no retransmission of lost
 * ones. What a module can see of those is kept: a message that finds no receive is refused (RNR) with all behind it and
 * comes again; packets for a queue pair that is not there are not answered, and retries run out; a peer that has died
 * neither.
 *
 * What has arrived lands at once, or, under chaos, when the seed wants it: bytes of one message in any order, those of
 * different messages in theirs (unless both go to memory registered with relaxed ordering, or the fabric is unordered);
 * receives, reads and atomics after all bytes before them.
 */
#include "schedule.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_MAX    = 64,       /* of one call, so that others get the lock      */
    LANDINGS_MAX  = 256,      /* of a queue pair, before packets have to wait  */
    SLEEP_NS      = 20000000, /* of the thread, while nothing rings            */
    SLEEP_NS_BUSY = 200000,   /* while something is delayed                    */
};

static uint64_t         line_free_ps; /* when the port has sent what left so far */
static struct sim_held *nobodies;     /* answers that found no room yet */
static struct sim_qp   *atomic_owner; /* under chaos an atomic is a read and, later, a write */

static bool is_read(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool has_immediate(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_send(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

/* Words of 8 and 4 bytes are never torn. */
static void copy(void *to, const void *from, size_t bytes)
{
    uint64_t word = 0;
    uint32_t half = 0;

    if (bytes == 8 && (uintptr_t)to % 8 == 0) {
        memcpy(&word, from, 8);
        __atomic_store_n((uint64_t *)to, word, __ATOMIC_RELEASE);
    } else if (bytes == 4 && (uintptr_t)to % 4 == 0) {
        memcpy(&half, from, 4);
        __atomic_store_n((uint32_t *)to, half, __ATOMIC_RELEASE);
    } else if (bytes) {
        memcpy(to, from, bytes);
        atomic_thread_fence(memory_order_release);
    }
}

/* ---- lists of what is held back ---- */

/* Due at this time, but not before what waits already: order within a list is kept. */
static void held_append(struct sim_held_list *list, struct sim_held *held, uint64_t due_ns)
{
    held->next = NULL;
    if (!list->first) {
        list->last   = &list->first;
        list->due_ns = 0;
    }
    if (list->due_ns < due_ns) list->due_ns = due_ns;
    held->due_ns = list->due_ns;
    *list->last  = held;
    list->last   = &held->next;
}

static uint64_t some_delay(void)
{
    return sim_options.chaos ? sim_random_below(sim_options.delay_ns_max) : 0;
}

static void held_clear(struct sim_held_list *list)
{
    while (list->first) {
        struct sim_held *held = list->first;
        list->first           = held->next;
        free(held);
    }
}

static struct sim_held *held_pop_due(struct sim_held_list *list, uint64_t now_ns)
{
    struct sim_held *held = list->first;

    if (!held || held->due_ns > now_ns) return NULL;
    list->first = held->next;
    return held;
}

/* ---- completions ---- */

static void deliver(struct sim_qp *qp, struct ibv_cq *cq, struct sim_cqe *cqe, bool solicited)
{
    cqe->wc.qp_num = sim_ibv_qp(qp)->qp_num;
    cqe->stamp_ns  = sim_now_ns();
    if (!sim_options.chaos) {
        sim_completion_add((struct sim_cq *)cq, cqe, solicited);
        return;
    }
    struct sim_held *held = calloc(1, sizeof(*held));
    if (!held) abort();
    held->cq        = (struct sim_cq *)cq;
    held->cqe       = *cqe;
    held->solicited = solicited;
    held_append(&qp->completions, held, sim_now_ns() + some_delay());
}

void sim_engine_receive_done(struct sim_qp *qp, struct sim_cqe *cqe, bool solicited)
{
    deliver(qp, sim_ibv_qp(qp)->recv_cq, cqe, solicited);
}

static enum ibv_wc_opcode completion_opcode(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ: return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP: return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return IBV_WC_FETCH_ADD;
    default: return IBV_WC_SEND;
    }
}

void sim_engine_complete_send(struct sim_qp *qp, uint32_t number, enum ibv_wc_status status)
{
    struct sim_wqe *wqe  = sim_wqe(qp, number);
    bool            sent = (int32_t)(qp->sent - number) > 0;

    if (sent && is_read(wqe->wr.opcode)) qp->reads--;
    qp->done       = number + 1;
    qp->done_bytes = 0;
    qp->retries = qp->rnr_retries = 0;
    if (!sent) {
        qp->sent       = qp->done;
        qp->sent_bytes = 0;
    }
    qp->timer_ns = 0;
    if (status == IBV_WC_SUCCESS && !qp->signal_all && !(wqe->wr.send_flags & IBV_SEND_SIGNALED)) return;
    struct sim_cqe cqe = {
        .wc         = {.wr_id = wqe->wr.wr_id, .status = status, .opcode = completion_opcode(wqe->wr.opcode)},
        .qpn        = sim_ibv_qp(qp)->qp_num,
        .send       = true,
        .send_count = number + 1,
    };
    cqe.wc.byte_len = (uint32_t)wqe->length;
    deliver(qp, sim_ibv_qp(qp)->send_cq, &cqe, false);
}

static void complete_sends_before(struct sim_qp *qp, uint32_t msn)
{
    while ((int32_t)(msn - qp->done) > 0 && (int32_t)(qp->sent - qp->done) > 0)
        sim_engine_complete_send(qp, qp->done, IBV_WC_SUCCESS);
}

static void fail_send(struct sim_qp *qp, enum ibv_wc_status status)
{
    sim_engine_complete_send(qp, qp->done, status);
    sim_queue_fail(qp);
}

/* ---- the requester: what is posted leaves ---- */

uint64_t sim_engine_due(uint32_t bytes)
{
    uint64_t now = sim_now_ns();

    if (!sim_options.wire_ns && !sim_options.rate_mbits) return 0;
    if (bytes == 0) return now + sim_options.wire_ns; /* answers and requests of no bytes wait for nobody */
    if (line_free_ps < now * 1000) line_free_ps = now * 1000;
    if (sim_options.rate_mbits) line_free_ps += (uint64_t)bytes * 8000000 / sim_options.rate_mbits;
    return line_free_ps / 1000 + sim_options.wire_ns;
}

static void address(const struct sim_qp *qp, const struct ibv_ah_attr *ah, struct sim_packet *p)
{
    unsigned device = sim_context_of(qp->ex.qp_base.context)->device;

    p->src_qpn = qp->ex.qp_base.qp_num;
    p->slid    = sim_device_lid(device);
    p->dlid    = ah->dlid;
    if (ah->is_global) {
        p->sgid = sim_device_gid(device, ah->grh.sgid_index);
        p->dgid = ah->grh.dgid;
    }
}

static void gather(const struct sim_wqe *wqe, uint64_t offset, uint8_t *to, uint64_t bytes)
{
    if (wqe->wr.send_flags & IBV_SEND_INLINE) {
        memcpy(to, wqe->inline_data + offset, bytes);
        return;
    }
    for (int i = 0; i < wqe->wr.num_sge && bytes; i++) {
        const struct ibv_sge *sge = &wqe->sge[i];
        if (offset >= sge->length) {
            offset -= sge->length;
            continue;
        }
        uint64_t       n    = sge->length - offset < bytes ? sge->length - offset : bytes;
        const uint8_t *from = sim_memory_local(wqe->pd, sge, 0);
        memcpy(to, from + offset, n);
        to += n;
        bytes -= n;
        offset = 0;
    }
}

static bool local_keys_are_good(const struct sim_qp *qp, struct sim_wqe *wqe)
{
    unsigned access = is_read(wqe->wr.opcode) ? IBV_ACCESS_LOCAL_WRITE : 0;

    if (wqe->wr.send_flags & IBV_SEND_INLINE) return true;
    wqe->pd = qp->ex.qp_base.pd;
    for (int i = 0; i < wqe->wr.num_sge; i++)
        if (wqe->sge[i].length && !sim_memory_local(wqe->pd, &wqe->sge[i], access)) return false;
    return true;
}

static bool send_datagram(struct sim_qp *qp)
{
    struct sim_wqe *wqe  = sim_wqe(qp, qp->sent);
    unsigned        slot = sim_slot_of_qpn(wqe->wr.wr.ud.remote_qpn);

    if (!local_keys_are_good(qp, wqe)) {
        fail_send(qp, IBV_WC_LOC_PROT_ERR);
        return true;
    }
    struct sim_packet *p = sim_fabric_reserve(slot, (uint32_t)wqe->length);
    if (!p) return false;
    *p = (struct sim_packet){
        .bytes    = (uint32_t)wqe->length,
        .kind     = SIM_DATAGRAM,
        .opcode   = (uint8_t)wqe->wr.opcode,
        .flags    = (uint8_t)((has_immediate(wqe->wr.opcode) ? SIM_IMMEDIATE : 0) |
                           (wqe->wr.send_flags & IBV_SEND_SOLICITED ? SIM_SOLICITED : 0)),
        .dest_qpn = wqe->wr.wr.ud.remote_qpn,
        .imm_data = wqe->wr.imm_data,
        .qkey     = wqe->wr.wr.ud.remote_qkey & 0x80000000U ? qp->attr.qkey : wqe->wr.wr.ud.remote_qkey,
        .length   = wqe->length,
    };
    address(qp, &wqe->ah, p);
    gather(wqe, 0, (uint8_t *)(p + 1), wqe->length);
    if (!sim_chance(sim_options.ud_loss_chance)) sim_fabric_send(slot, p);
    qp->sent++;
    sim_engine_complete_send(qp, qp->done, IBV_WC_SUCCESS);
    return true;
}

static void start_timer(struct sim_qp *qp)
{
    if (qp->timer_ns == 0 && qp->attr.timeout) qp->timer_ns = sim_now_ns() + (UINT64_C(4096) << qp->attr.timeout);
}

static void fill_request(const struct sim_qp *qp, const struct sim_wqe *wqe, uint32_t bytes, struct sim_packet *p)
{
    bool atomic = wqe->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wqe->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
    bool last   = is_read(wqe->wr.opcode) || qp->sent_bytes + bytes == wqe->length;

    *p = (struct sim_packet){
        .bytes       = bytes,
        .kind        = SIM_REQUEST,
        .opcode      = (uint8_t)wqe->wr.opcode,
        .flags       = (uint8_t)((qp->sent_bytes == 0 ? SIM_FIRST : 0) | (last ? SIM_LAST : 0) |
                           (has_immediate(wqe->wr.opcode) ? SIM_IMMEDIATE : 0) |
                           (wqe->wr.send_flags & IBV_SEND_SOLICITED ? SIM_SOLICITED : 0)),
        .dest_qpn    = qp->attr.dest_qp_num,
        .msn         = qp->sent,
        .imm_data    = wqe->wr.imm_data,
        .rkey        = atomic ? wqe->wr.wr.atomic.rkey : wqe->wr.wr.rdma.rkey,
        .remote_addr = atomic ? wqe->wr.wr.atomic.remote_addr : wqe->wr.wr.rdma.remote_addr,
        .offset      = qp->sent_bytes,
        .length      = wqe->length,
        .compare_add = atomic ? wqe->wr.wr.atomic.compare_add : 0,
        .swap        = atomic ? wqe->wr.wr.atomic.swap : 0,
    };
    address(qp, &qp->attr.ah_attr, p);
}

/* May the next message begin? False: it waits, or has failed. */
static bool may_begin(struct sim_qp *qp, struct sim_wqe *wqe)
{
    if (wqe->wr.send_flags & IBV_SEND_FENCE && qp->reads) return false;
    if (is_read(wqe->wr.opcode) && qp->reads >= qp->attr.max_rd_atomic) return false;
    bool failed  = !local_keys_are_good(qp, wqe);
    bool lost    = !failed && !wqe->checked && sim_chance(sim_options.link_chance);
    wqe->checked = true;
    if (failed || lost || qp->cut) {
        qp->cut = true;
        if (qp->done == qp->sent) /* those before it complete first */
            fail_send(qp, failed ? IBV_WC_LOC_PROT_ERR : IBV_WC_RETRY_EXC_ERR);
        return false;
    }
    return true;
}

/* Send one packet. */
static bool send_request(struct sim_qp *qp)
{
    struct sim_wqe *wqe  = sim_wqe(qp, qp->sent);
    unsigned        slot = sim_slot_of_qpn(qp->attr.dest_qp_num);

    if (qp->sent_bytes == 0 && !may_begin(qp, wqe)) return sim_ibv_qp(qp)->state == IBV_QPS_ERR;
    uint64_t           left  = is_read(wqe->wr.opcode) ? 0 : wqe->length - qp->sent_bytes;
    uint32_t           bytes = (uint32_t)(left < sim_options.packet_bytes ? left : sim_options.packet_bytes);
    struct sim_packet *p     = sim_fabric_reserve(slot, bytes);
    if (!p) return false;
    fill_request(qp, wqe, bytes, p);
    if (bytes) gather(wqe, qp->sent_bytes, (uint8_t *)(p + 1), bytes);
    bool last = p->flags & SIM_LAST;
    WATCH("leaves", qp, p->msn, p->offset, bytes);
    sim_fabric_send(slot, p);
    start_timer(qp);
    qp->sent_bytes += bytes;
    if (last) {
        qp->sent++;
        qp->sent_bytes = 0;
        qp->reads += is_read(wqe->wr.opcode);
    }
    return true;
}

static bool has_to_send(const struct sim_qp *qp)
{
    return qp->ex.qp_base.state == IBV_QPS_RTS && qp->sent != qp->posted;
}

static bool send_next(struct sim_qp *qp)
{
    if (line_free_ps > sim_now_ns() * 1000) return false; /* the port still sends */
    if (!has_to_send(qp) || qp->rnr_until_ns > sim_now_ns()) return false;
    return sim_ibv_qp(qp)->qp_type == IBV_QPT_UD ? send_datagram(qp) : send_request(qp);
}

static void rewind_to(struct sim_qp *qp, uint32_t msn, uint64_t offset)
{
    qp->sent       = msn;
    qp->sent_bytes = offset;
    qp->reads      = 0;
    for (uint32_t i = qp->done; i != msn; i++) qp->reads += is_read(sim_wqe(qp, i)->wr.opcode);
}

/* ---- the requester: answers ---- */

/* In units of 10 us, by the code of 5 bits (InfiniBand specification, table "Encoding for RNR NAK Timer Field"). */
static const uint32_t rnr_timers[32] = {65536, 1,    2,    3,    4,    6,     8,     12,    16,    24,   32,
                                        48,    64,   96,   128,  192,  256,   384,   512,   768,   1024, 1536,
                                        2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

static void take_rnr(struct sim_qp *qp, const struct sim_packet *p)
{
    complete_sends_before(qp, p->msn);
    if (qp->done != p->msn) return;
    if (qp->attr.rnr_retry != 7 && ++qp->rnr_retries > qp->attr.rnr_retry) {
        fail_send(qp, IBV_WC_RNR_RETRY_EXC_ERR);
        return;
    }
    rewind_to(qp, p->msn, p->offset);
    qp->rnr_until_ns = sim_now_ns() + (uint64_t)rnr_timers[p->status & 31] * 10000;
}

static void scatter(const struct sim_qp *qp, const struct sim_wqe *wqe, uint64_t offset, const uint8_t *from, uint64_t bytes)
{
    for (int i = 0; i < wqe->wr.num_sge && bytes; i++) {
        const struct ibv_sge *sge = &wqe->sge[i];
        if (offset >= sge->length) {
            offset -= sge->length;
            continue;
        }
        uint64_t n  = sge->length - offset < bytes ? sge->length - offset : bytes;
        uint8_t *to = sim_memory_local(qp->ex.qp_base.pd, sge, IBV_ACCESS_LOCAL_WRITE);
        if (to) copy(to + offset, from, n);
        from += n;
        bytes -= n;
        offset = 0;
    }
}

static void take_response(struct sim_qp *qp, const struct sim_packet *p)
{
    complete_sends_before(qp, p->msn);
    if (qp->done != p->msn || qp->done == qp->sent) return;
    struct sim_wqe *wqe = sim_wqe(qp, p->msn);
    scatter(qp, wqe, p->offset, (const uint8_t *)(p + 1), p->bytes);
    qp->done_bytes = p->offset + p->bytes;
    if (qp->done_bytes == wqe->length) sim_engine_complete_send(qp, p->msn, IBV_WC_SUCCESS);
}

static void take_answer(struct sim_qp *qp, const struct sim_packet *p)
{
    if (sim_ibv_qp(qp)->state != IBV_QPS_RTS && sim_ibv_qp(qp)->state != IBV_QPS_SQD) return;
    switch ((enum sim_kind)p->kind) {
    case SIM_ACK:
        WATCH("answered", qp, p->msn, 0, 0);
        complete_sends_before(qp, p->msn);
        break;
    case SIM_RNR: take_rnr(qp, p); break;
    case SIM_RESPONSE: take_response(qp, p); break;
    case SIM_NAK:
        complete_sends_before(qp, p->msn);
        if (qp->done == p->msn && qp->done != qp->sent + (qp->sent_bytes > 0)) fail_send(qp, (enum ibv_wc_status)p->status);
        break;
    case SIM_NOBODY: qp->nobody = true; break;
    default: break;
    }
    if (qp->done == qp->sent && qp->sent_bytes == 0) qp->timer_ns = 0;
    else start_timer(qp);
}

static bool run_timer(struct sim_qp *qp)
{
    if (qp->timer_ns == 0 || sim_now_ns() < qp->timer_ns || sim_ibv_qp(qp)->state != IBV_QPS_RTS) return false;
    qp->timer_ns = 0;
    /* A peer that lives and has our queue pair only had no time to answer. */
    if (!qp->nobody && sim_fabric_alive(sim_slot_of_qpn(qp->attr.dest_qp_num))) {
        start_timer(qp);
        return false;
    }
    qp->nobody = false;
    if (++qp->retries > qp->attr.retry_cnt) {
        if (qp->done == qp->posted) return false;
        fail_send(qp, IBV_WC_RETRY_EXC_ERR);
        return true;
    }
    rewind_to(qp, qp->done, 0);
    start_timer(qp);
    return true;
}

/* ---- the responder: what arrives lands ---- */

static void answer(const struct sim_qp *qp, enum sim_kind kind, uint32_t msn, struct sim_packet *p)
{
    *p = (struct sim_packet){.kind = (uint8_t)kind, .dest_qpn = qp->attr.dest_qp_num, .msn = msn};
    address(qp, &qp->attr.ah_attr, p);
}

static struct sim_landing *append_landing(struct sim_qp *qp, enum sim_landing_kind kind, uint32_t msn, size_t bytes)
{
    struct sim_landing *l = calloc(1, sizeof(*l) + bytes);

    if (!l) abort();
    l->kind = kind;
    l->msn  = msn;
    if (!qp->landings) qp->landings_last = &qp->landings;
    *qp->landings_last = l;
    qp->landings_last  = &l->next;
    qp->landing_count++;
    return l;
}

static void add_response(struct sim_qp *qp, const struct sim_landing *l, bool atomic, uint64_t value)
{
    struct sim_response *r = calloc(1, sizeof(*r));

    if (!r) abort();
    *r = (struct sim_response){
        .msn = l->msn, .address = l->address, .length = atomic ? 8 : l->length, .atomic = atomic, .value = value};
    /* By number: on an unordered fabric they are done in any order, but a queue pair's answers come in one. */
    struct sim_response **link = &qp->responses;
    while (*link && (int32_t)((*link)->msn - r->msn) < 0) link = &(*link)->next;
    r->next = *link;
    *link   = r;
}

static uint64_t new_value(const struct sim_landing *l, uint64_t old)
{
    if (l->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) return old + l->compare_add;
    return old == l->compare_add ? l->swap : old;
}

/* True: done. Under chaos an atomic that only the NIC knows leaves a gap between its read and its write. */
static bool land_atomic(struct sim_qp *qp, struct sim_landing *l)
{
    uint64_t *word = l->address;

    if (sim_options.atomic == IBV_ATOMIC_GLOB) {
        uint64_t old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
        while (!__atomic_compare_exchange_n(word, &old, new_value(l, old), false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
        add_response(qp, l, true, old);
        return true;
    }
    if (!l->begun) {
        if (atomic_owner) return false;
        l->old   = __atomic_load_n(word, __ATOMIC_RELAXED);
        l->begun = true;
        if (sim_options.chaos) {
            atomic_owner = qp;
            return false;
        }
    }
    atomic_owner = NULL;
    /* A compare that fails writes nothing. */
    if (l->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || l->old == l->compare_add)
        __atomic_store_n(word, new_value(l, l->old), __ATOMIC_RELEASE);
    add_response(qp, l, true, l->old);
    return true;
}

static bool land(struct sim_qp *qp, struct sim_landing *l)
{
    switch (l->kind) {
    case SIM_LAND_BYTES:
        WATCH("lands", qp, l->msn, (uintptr_t)l->address, l->length);
        copy(l->address, l->bytes, l->length);
        return true;
    case SIM_LAND_RECEIVE: deliver(qp, sim_ibv_qp(qp)->recv_cq, &l->cqe, l->solicited); return true;
    case SIM_LAND_READ: add_response(qp, l, false, 0); return true;
    case SIM_LAND_ATOMIC: return land_atomic(qp, l);
    }
    return true;
}

/* What a walk along the landings has passed; they are ordered by message. */
struct passed {
    uint32_t msn;
    bool     any;
    bool     waits;   /* a receive, a read or an atomic                */
    bool     others;  /* anything of another message than the last one */
    bool     relaxed; /* all of the others are bytes that may be passed */
    bool     same_relaxed;
};

/* May l land now, before those that were passed? */
static bool may_land(struct passed *passed, const struct sim_landing *l)
{
    if (!passed->any || passed->msn != l->msn) {
        passed->relaxed = passed->others ? passed->relaxed && passed->same_relaxed : passed->same_relaxed;
        passed->others  = passed->any;
        if (sim_options.unordered) *passed = (struct passed){.any = false};
        passed->same_relaxed = true;
        passed->msn          = l->msn;
    }
    bool bytes = l->kind == SIM_LAND_BYTES;
    bool may   = bytes ? !passed->waits && (!passed->others || (l->relaxed && passed->relaxed)) : !passed->others && !passed->any;
    if (sim_options.unordered && !bytes) may = !passed->any;
    passed->any = true;
    passed->waits |= !bytes;
    passed->same_relaxed &= bytes && l->relaxed;
    return may;
}

static void drop_landing(struct sim_qp *qp, struct sim_landing **link)
{
    struct sim_landing *l = *link;

    *link = l->next;
    if (!l->next) qp->landings_last = link;
    qp->landing_count--;
    qp->ack_due = true;
    free(l);
}

/* Land one of those that may, as chance wants it. Not chaos: the first. */
static bool land_one(struct sim_qp *qp)
{
    struct passed passed   = {.any = false};
    unsigned      eligible = 0;

    for (struct sim_landing *l = qp->landings; l; l = l->next) eligible += may_land(&passed, l);
    if (eligible == 0) return false;
    unsigned pick = sim_options.chaos ? sim_random_below(eligible) : 0;
    passed        = (struct passed){.any = false};
    for (struct sim_landing **link = &qp->landings; *link; link = &(*link)->next) {
        if (!may_land(&passed, *link) || pick-- > 0) continue;
        if (!land(qp, *link)) return (*link)->begun;
        drop_landing(qp, link);
        return true;
    }
    return false;
}

static void finish_atomic(void)
{
    struct sim_qp *qp = atomic_owner;

    if (!qp) return;
    for (struct sim_landing **link = &qp->landings; *link; link = &(*link)->next) {
        if ((*link)->begun) {
            land(qp, *link);
            drop_landing(qp, link);
            return;
        }
    }
}

static void land_all(struct sim_qp *qp)
{
    finish_atomic();
    while (qp->landings) {
        if (!land(qp, qp->landings)) land(qp, qp->landings);
        drop_landing(qp, &qp->landings);
    }
}

/* Messages that are done whole. */
static uint32_t landed(const struct sim_qp *qp)
{
    return qp->landings ? qp->landings->msn : qp->expected;
}

/* The bytes of a packet, to one place: at once, or in pieces that the seed cuts. */
static void land_bytes(struct sim_qp *qp, uint32_t msn, bool relaxed, uint8_t *to, const uint8_t *from, uint64_t bytes)
{
    if (!sim_options.chaos) {
        WATCH("lands", qp, msn, (uintptr_t)to, bytes);
        copy(to, from, bytes);
        return;
    }
    while (bytes) {
        uint64_t n = bytes;
        if (bytes > 8 && sim_random_below(4)) { /* words stay whole */
            n = 8 * (1 + sim_random_below((unsigned)(bytes / 8)));
            n -= ((uintptr_t)to + n) % 8;
            n = n < bytes ? n : bytes;
        }
        struct sim_landing *l = append_landing(qp, SIM_LAND_BYTES, msn, n);
        l->relaxed            = relaxed;
        l->address            = to;
        l->length             = n;
        memcpy(l->bytes, from, n);
        to += n;
        from += n;
        bytes -= n;
    }
}

static struct sim_receives *receives_of(struct sim_qp *qp)
{
    struct ibv_srq *srq = sim_ibv_qp(qp)->srq;

    return srq ? &((struct sim_srq *)srq)->receives : &qp->receives;
}

static bool take_receive(struct sim_qp *qp)
{
    struct sim_receives *r = receives_of(qp);

    if (r->head == r->tail || sim_chance(sim_options.rnr_chance)) return false;
    const struct sim_receive *next = &r->entries[r->tail++ % r->room];
    qp->receive                    = *next;
    if (next->sges) memcpy(qp->receive_sges, next->sge, (size_t)next->sges * sizeof(*next->sge));
    qp->receive.sge     = qp->receive_sges;
    qp->receive_taken   = true;
    struct sim_srq *srq = (struct sim_srq *)sim_ibv_qp(qp)->srq;
    if (srq && srq->limit && r->head - r->tail < srq->limit) {
        srq->limit = 0;
        sim_event_srq(srq, IBV_EVENT_SRQ_LIMIT_REACHED);
    }
    return true;
}

/* Bytes of a message into the receive's buffers; false: a key of ours is wrong, or they are too small. */
static enum ibv_wc_status fill_receive(struct sim_qp *qp, uint32_t msn, uint64_t offset, const uint8_t *from, uint64_t bytes)
{
    for (int i = 0; i < qp->receive.sges && bytes; i++) {
        const struct ibv_sge *sge = &qp->receive.sge[i];
        if (offset >= sge->length) {
            offset -= sge->length;
            continue;
        }
        uint64_t n  = sge->length - offset < bytes ? sge->length - offset : bytes;
        uint8_t *to = sim_memory_local(qp->ex.qp_base.pd, sge, IBV_ACCESS_LOCAL_WRITE);
        if (!to) return IBV_WC_LOC_PROT_ERR;
        land_bytes(qp, msn, false, to + offset, from, n);
        from += n;
        bytes -= n;
        offset = 0;
    }
    return bytes ? IBV_WC_LOC_LEN_ERR : IBV_WC_SUCCESS;
}

static void finish_receive(struct sim_qp *qp, const struct sim_packet *p, enum ibv_wc_opcode opcode, uint64_t bytes)
{
    struct sim_cqe cqe = {
        .wc = {.wr_id = qp->receive.wr_id, .status = IBV_WC_SUCCESS, .opcode = opcode, .byte_len = (uint32_t)bytes}};

    cqe.wc.src_qp = p->src_qpn;
    cqe.wc.slid   = p->slid;
    if (p->flags & SIM_IMMEDIATE) {
        cqe.wc.wc_flags |= IBV_WC_WITH_IMM;
        cqe.wc.imm_data = p->imm_data;
    }
    if (p->kind == SIM_DATAGRAM) cqe.wc.wc_flags |= IBV_WC_GRH;
    qp->receive_taken = false;
    bool solicited    = p->flags & SIM_SOLICITED;
    if (!sim_options.chaos) {
        deliver(qp, sim_ibv_qp(qp)->recv_cq, &cqe, solicited);
        return;
    }
    struct sim_landing *l = append_landing(qp, SIM_LAND_RECEIVE, p->msn, 0);
    l->cqe                = cqe;
    l->solicited          = solicited;
}

/* Refuse a message: what came before it is done, the requester is told, the queue pair stops. */
static void refuse(struct sim_qp *qp, const struct sim_packet *p, enum ibv_wc_status status, enum ibv_event_type event)
{
    land_all(qp);
    answer(qp, SIM_NAK, p->msn, &qp->nak);
    qp->nak.status = (uint8_t)status;
    qp->nak_due    = true;
    sim_event_qp(qp, event);
    sim_queue_fail(qp);
}

static void fail_receive(struct sim_qp *qp, const struct sim_packet *p, enum ibv_wc_status status)
{
    struct sim_cqe cqe = {.wc = {.wr_id = qp->receive.wr_id, .status = status, .opcode = IBV_WC_RECV}};

    land_all(qp);
    qp->receive_taken = false;
    deliver(qp, sim_ibv_qp(qp)->recv_cq, &cqe, true);
    if (p->kind == SIM_DATAGRAM) sim_queue_fail(qp);
    else refuse(qp, p, status == IBV_WC_LOC_LEN_ERR ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR, IBV_EVENT_QP_FATAL);
}

static void not_ready(struct sim_qp *qp, const struct sim_packet *p)
{
    answer(qp, SIM_RNR, p->msn, &qp->nak);
    qp->nak.offset = p->offset;
    qp->nak.status = qp->attr.min_rnr_timer;
    qp->nak_due    = true;
}

static void advance(struct sim_qp *qp, const struct sim_packet *p)
{
    qp->expected_bytes = p->offset + p->bytes;
    if (p->flags & SIM_LAST) {
        qp->expected++;
        qp->expected_bytes = 0;
        qp->ack_due        = true;
    }
}

static void take_send(struct sim_qp *qp, const struct sim_packet *p)
{
    if (p->flags & SIM_FIRST && !qp->receive_taken && !take_receive(qp)) {
        not_ready(qp, p);
        return;
    }
    enum ibv_wc_status status = fill_receive(qp, p->msn, p->offset, (const uint8_t *)(p + 1), p->bytes);
    if (status != IBV_WC_SUCCESS) {
        fail_receive(qp, p, status);
        return;
    }
    if (p->flags & SIM_LAST) finish_receive(qp, p, IBV_WC_RECV, p->length);
    advance(qp, p);
}

static void take_write(struct sim_qp *qp, const struct sim_packet *p)
{
    bool     relaxed = false;
    uint8_t *to      = NULL;

    /* The key of a write of no bytes is not looked at. */
    if (p->length) {
        to = sim_memory_remote(qp->ex.qp_base.pd, p->rkey, p->remote_addr, p->length, IBV_ACCESS_REMOTE_WRITE, &relaxed);
        if (!to || !(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE)) {
            refuse(qp, p, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
            return;
        }
    }
    WATCH("arrives", qp, p->msn, p->offset, p->bytes);
    bool immediate = p->flags & SIM_LAST && p->flags & SIM_IMMEDIATE;
    if (immediate && !take_receive(qp)) {
        not_ready(qp, p);
        return;
    }
    if (p->bytes) land_bytes(qp, p->msn, relaxed, to + p->offset, (const uint8_t *)(p + 1), p->bytes);
    if (immediate) finish_receive(qp, p, IBV_WC_RECV_RDMA_WITH_IMM, p->length);
    advance(qp, p);
}

static void take_read(struct sim_qp *qp, const struct sim_packet *p)
{
    bool     atomic  = p->opcode != IBV_WR_RDMA_READ;
    unsigned access  = atomic ? IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_READ;
    bool     relaxed = false;
    void    *from    = NULL;

    if (atomic && p->remote_addr % 8) {
        refuse(qp, p, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
        return;
    }
    if (p->length) {
        from = sim_memory_remote(qp->ex.qp_base.pd, p->rkey, p->remote_addr, p->length, access, &relaxed);
        if (!from || !(qp->attr.qp_access_flags & access)) {
            refuse(qp, p, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
            return;
        }
    }
    struct sim_landing *l = append_landing(qp, atomic ? SIM_LAND_ATOMIC : SIM_LAND_READ, p->msn, 0);
    l->address            = from;
    l->length             = p->length;
    l->opcode             = p->opcode;
    l->compare_add        = p->compare_add;
    l->swap               = p->swap;
    advance(qp, p);
    if (!sim_options.chaos) land_one(qp);
}

static void take_request(struct sim_qp *qp, const struct sim_packet *p)
{
    if (p->msn != qp->expected || p->offset != qp->expected_bytes) {
        if ((int32_t)(qp->expected - p->msn) > 0) qp->ack_due = true; /* it came twice */
        return;                                                       /* behind one that was refused: comes again */
    }
    if (is_send((enum ibv_wr_opcode)p->opcode)) take_send(qp, p);
    else if (is_read((enum ibv_wr_opcode)p->opcode)) take_read(qp, p);
    else take_write(qp, p);
}

static void take_datagram(struct sim_qp *qp, const struct sim_packet *p)
{
    struct ibv_grh grh = {.hop_limit = 64, .sgid = p->sgid, .dgid = p->dgid};

    if (p->qkey != qp->attr.qkey || !take_receive(qp)) return; /* dropped: nobody is told */
    enum ibv_wc_status status = fill_receive(qp, 0, 0, (const uint8_t *)&grh, sizeof(grh));
    if (status == IBV_WC_SUCCESS) status = fill_receive(qp, 0, sizeof(grh), (const uint8_t *)(p + 1), p->bytes);
    if (status != IBV_WC_SUCCESS) fail_receive(qp, p, status);
    else finish_receive(qp, p, IBV_WC_RECV, sizeof(grh) + p->bytes);
}

/* ---- packets ---- */

static bool is_request(const struct sim_packet *p)
{
    return p->kind == SIM_REQUEST || p->kind == SIM_DATAGRAM;
}

/* Whether this packet is for this queue pair as it is now. */
static bool takes(const struct sim_qp *qp, const struct sim_packet *p)
{
    const struct ibv_qp *ibv      = &qp->ex.qp_base;
    unsigned             device   = sim_context_of(ibv->context)->device;
    bool                 datagram = p->kind == SIM_DATAGRAM;
    bool here = p->dgid.global.interface_id ? sim_device_has_gid(device, &p->dgid) : p->dlid == sim_device_lid(device);

    if (ibv->qp_num != p->dest_qpn || (ibv->qp_type == IBV_QPT_UD) != datagram || !here) return false;
    if (!datagram && qp->attr.dest_qp_num != p->src_qpn) return false;
    return !is_request(p) || ibv->state == IBV_QPS_RTR || ibv->state == IBV_QPS_RTS || ibv->state == IBV_QPS_SQD;
}

static struct sim_qp *find_qp(const struct sim_packet *p)
{
    struct sim_qp *qp = sim_table_find(&sim.qps, p->dest_qpn & ((1U << 17) - 1));

    return qp && takes(qp, p) ? qp : NULL;
}

static void tell_nobody(const struct sim_packet *p)
{
    for (const struct sim_held *held = nobodies; held; held = held->next)
        if (held->packet.dest_qpn == p->src_qpn) return;
    struct sim_held *held = calloc(1, sizeof(*held));
    if (!held) abort();
    held->packet =
        (struct sim_packet){.kind = SIM_NOBODY, .src_qpn = p->dest_qpn, .dest_qpn = p->src_qpn, .sgid = p->dgid, .dgid = p->sgid};
    held->packet.slid = p->dlid;
    held->packet.dlid = p->slid;
    held->next        = nobodies;
    nobodies          = held;
}

static void send_nobodies(void)
{
    for (struct sim_held **link = &nobodies; *link;) {
        struct sim_held   *held = *link;
        unsigned           slot = sim_slot_of_qpn(held->packet.dest_qpn);
        struct sim_packet *p    = sim_fabric_reserve(slot, 0);
        if (!p) {
            link = &held->next;
            continue;
        }
        *p = held->packet;
        sim_fabric_send(slot, p);
        *link = held->next;
        free(held);
    }
}

static void take_packet(const struct sim_packet *p)
{
    struct sim_qp *qp = find_qp(p);

    if (!qp) {
        if (p->kind == SIM_REQUEST) tell_nobody(p);
        return;
    }
    if (p->kind == SIM_REQUEST) take_request(qp, p);
    else if (p->kind == SIM_DATAGRAM) take_datagram(qp, p);
    else take_answer(qp, p);
}

static void hold_packet(const struct sim_packet *p)
{
    struct sim_qp *qp = find_qp(p);

    if (!qp) {
        take_packet(p);
        return;
    }
    struct sim_held *held = malloc(sizeof(*held) + p->bytes);
    if (!held) abort();
    memcpy(&held->packet, p, sizeof(*p) + p->bytes);
    held_append(&qp->arrivals, held, (p->due_ns ? p->due_ns : sim_now_ns()) + some_delay());
}

static bool pull_packets(void)
{
    unsigned slots = sim_fabric_slots();
    bool     some  = false;

    for (unsigned slot = 0; slot < slots; slot++) {
        const struct sim_packet *p = NULL;
        for (int n = 0; n < 32 && (p = sim_fabric_peek(slot)); n++) {
            if (sim_options.chaos || p->due_ns) hold_packet(p);
            else take_packet(p);
            sim_fabric_release(slot, p);
            some = true;
        }
    }
    return some;
}

/* ---- answers leave ---- */

static bool send_response(struct sim_qp *qp, unsigned slot)
{
    struct sim_response *r     = qp->responses;
    uint64_t             left  = r->length - r->offset;
    uint32_t             bytes = (uint32_t)(left < sim_options.packet_bytes ? left : sim_options.packet_bytes);
    struct sim_packet   *p     = sim_fabric_reserve(slot, bytes);

    if (!p) return false;
    answer(qp, SIM_RESPONSE, r->msn, p);
    p->bytes  = bytes;
    p->offset = r->offset;
    if (bytes) memcpy(p + 1, r->atomic ? (const uint8_t *)&r->value : r->address + r->offset, bytes);
    sim_fabric_send(slot, p);
    r->offset += bytes;
    if (r->offset == r->length) {
        qp->responses = r->next;
        free(r);
        qp->ack_due = true;
    }
    return true;
}

/* One packet: the oldest response, else the acknowledgement, else a refusal. */
static bool send_answer(struct sim_qp *qp)
{
    unsigned slot = sim_slot_of_qpn(qp->attr.dest_qp_num);

    if (qp->ex.qp_base.qp_type == IBV_QPT_UD || (!qp->responses && !qp->ack_due && !qp->nak_due)) return false;
    /* On an unordered fabric a response waits for those before it: answers come in order. */
    if (qp->responses && (int32_t)(landed(qp) - qp->responses->msn) > 0) return send_response(qp, slot);
    struct sim_packet *p = sim_fabric_reserve(slot, 0);
    if (!p) return false;
    if (qp->ack_due) {
        answer(qp, SIM_ACK, landed(qp), p);
        WATCH("answers", qp, p->msn, 0, 0);
        qp->ack_due = false;
    } else if (qp->nak_due && !qp->landings) {
        *p          = qp->nak;
        qp->nak_due = false;
    } else {
        return false;
    }
    sim_fabric_send(slot, p);
    return true;
}

/* ---- all of it ---- */

static bool release_held(struct sim_qp *qp, uint64_t now_ns)
{
    struct sim_held *held = NULL;
    bool             some = false;

    while (qp->landing_count < LANDINGS_MAX && (held = held_pop_due(&qp->arrivals, now_ns))) {
        take_packet(&held->packet);
        free(held);
        some = true;
    }
    while ((held = held_pop_due(&qp->completions, now_ns))) {
        sim_completion_add(held->cq, &held->cqe, held->solicited);
        free(held);
        some = true;
    }
    return some;
}

static bool run_qp(struct sim_qp *qp)
{
    bool some = run_timer(qp);

    some |= release_held(qp, sim_now_ns());
    if (sim_options.chaos) {
        if (sim_random_below(2)) some |= land_one(qp);
        if (sim_random_below(2)) some |= send_answer(qp);
        if (sim_random_below(2)) some |= send_next(qp);
        return some;
    }
    while (send_answer(qp)) some = true;
    for (int n = 0; n < 32 && send_next(qp); n++) some = true;
    return some;
}

static bool run_once(void)
{
    bool some = pull_packets();

    for (struct sim_qp *qp = sim.qp_list, *next = NULL; qp; qp = next) {
        next = qp->next;
        some |= run_qp(qp);
    }
    if (nobodies) send_nobodies();
    return some;
}

bool sim_engine_run(void)
{
    int rounds = 0;

    if (sim_schedule_on()) return false; /* the NIC moves when it is chosen */
    while (rounds < ROUNDS_MAX && run_once()) rounds++;
    return rounds > 0;
}

static void clear_landings(struct sim_qp *qp)
{
    while (qp->landings) {
        struct sim_landing *l = qp->landings;
        qp->landings          = l->next;
        free(l);
    }
    while (qp->responses) {
        struct sim_response *r = qp->responses;
        qp->responses          = r->next;
        free(r);
    }
    qp->landing_count = 0;
    if (atomic_owner == qp) atomic_owner = NULL;
}

/* As a queue pair is in the reset state: nothing posted, nothing under way. */
void sim_engine_reset_qp(struct sim_qp *qp)
{
    clear_landings(qp);
    held_clear(&qp->arrivals);
    held_clear(&qp->completions);
    qp->posted = qp->sent = qp->done = qp->polled = 0;
    qp->sent_bytes = qp->done_bytes = 0;
    qp->reads = qp->retries = qp->rnr_retries = 0;
    qp->rnr_until_ns = qp->timer_ns = 0;
    qp->nobody = qp->cut = false;
    qp->receives.head = qp->receives.tail = 0;
    qp->expected                          = 0;
    qp->expected_bytes                    = 0;
    qp->receive_taken = qp->ack_due = qp->nak_due = false;
}

void sim_engine_posted(void)
{
    sim_schedule_busy();
    if (sim_options.chaos || sim_schedule_on()) sim_fabric_ring_mine();
    else sim_engine_run();
}

/* ---- one step, when the scheduler has chosen this NIC ---- */

enum action { ACTION_TIMER, ACTION_ARRIVAL, ACTION_COMPLETION, ACTION_LAND, ACTION_ANSWER, ACTION_SEND, ACTIONS };

static bool act(struct sim_qp *qp, enum action action)
{
    uint64_t         now  = sim_now_ns();
    struct sim_held *held = NULL;

    switch (action) {
    case ACTION_TIMER: return run_timer(qp);
    case ACTION_ARRIVAL:
        held = qp->landing_count < LANDINGS_MAX ? held_pop_due(&qp->arrivals, now) : NULL;
        if (held) take_packet(&held->packet);
        break;
    case ACTION_COMPLETION:
        held = held_pop_due(&qp->completions, now);
        if (held) sim_completion_add(held->cq, &held->cqe, held->solicited);
        break;
    case ACTION_LAND: return land_one(qp);
    case ACTION_ANSWER: return send_answer(qp);
    case ACTION_SEND: return send_next(qp);
    case ACTIONS: break;
    }
    free(held);
    return held != NULL;
}

static bool act_somehow(struct sim_qp *qp)
{
    unsigned first = sim_random_below(ACTIONS);

    for (unsigned i = 0; i < ACTIONS; i++)
        if (act(qp, (enum action)((first + i) % ACTIONS))) return true;
    return false;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* When a queue pair, which has nothing to do now, may have something. */
static uint64_t next_due(const struct sim_qp *qp)
{
    uint64_t due = UINT64_MAX;

    if (qp->timer_ns) due = earlier(due, qp->timer_ns);
    if (qp->rnr_until_ns > sim_now_ns()) due = earlier(due, qp->rnr_until_ns);
    if (qp->arrivals.first) due = earlier(due, qp->arrivals.first->due_ns);
    if (qp->completions.first) due = earlier(due, qp->completions.first->due_ns);
    if (line_free_ps && has_to_send(qp)) due = earlier(due, (line_free_ps + 999) / 1000);
    return due;
}

void sim_engine_step(void)
{
    unsigned count = 0;
    uint64_t due   = UINT64_MAX;
    bool     some  = pull_packets();

    if (nobodies) send_nobodies();
    for (const struct sim_qp *qp = sim.qp_list; qp; qp = qp->next) count++;
    unsigned       skip = sim_random_below(count);
    struct sim_qp *qp   = sim.qp_list;
    while (skip--) qp = qp->next;
    for (unsigned i = 0; i < count; i++, qp = qp->next ? qp->next : sim.qp_list) {
        if (act_somehow(qp)) {
            some = true;
            break;
        }
        due = earlier(due, next_due(qp));
    }
    if (some) sim_schedule_busy();
    sim_schedule_nic_done(some ? 0 : due);
}

static void expect_empty(const struct sim_table *table, const char *what)
{
    for (uint32_t i = 0; i < table->next; i++) {
        if (!sim_table_find(table, i)) continue;
        fprintf(stderr, "simverbs: a %s was left by the seed before\n", what);
        abort();
    }
}

/* Nothing may be left of the seed before. */
void sim_engine_begin_seed(void)
{
    expect_empty(&sim.qps, "queue pair");
    expect_empty(&sim.mrs, "memory region");
    expect_empty(&sim.cqs, "completion queue");
    expect_empty(&sim.srqs, "shared receive queue");
    expect_empty(&sim.pds, "protection domain");
    sim_options_read();
    sim.qps.next = sim.mrs.next = sim.cqs.next = sim.srqs.next = sim.pds.next = 0;
    atomic_owner                                                              = NULL;
    line_free_ps                                                              = 0;
    sim_fabric_begin_seed();
}

/* When the thread is to look again though nothing rings. */
static uint64_t sleep_time(void)
{
    uint64_t now  = sim_now_ns();
    uint64_t wake = now + SLEEP_NS;

    for (const struct sim_qp *qp = sim.qp_list; qp; qp = qp->next) {
        if (qp->timer_ns && qp->timer_ns < wake) wake = qp->timer_ns;
        if (qp->rnr_until_ns > now && qp->rnr_until_ns < wake) wake = qp->rnr_until_ns;
        if (qp->arrivals.first || qp->completions.first || qp->landings || (line_free_ps && has_to_send(qp))) return SLEEP_NS_BUSY;
    }
    return wake > now + SLEEP_NS_BUSY ? wake - now : SLEEP_NS_BUSY;
}

static void *run_thread(void *unused)
{
    (void)unused;
    if (sim_schedule_on()) {
        sim_schedule_nic_run();
        return NULL;
    }
    sim_lock();
    while (sim.running) {
        uint32_t doorbell = sim_fabric_doorbell();
        bool     some     = sim_engine_run();
        uint64_t sleep_ns = sleep_time();
        sim_unlock();
        if (some) sched_yield();
        else sim_fabric_sleep(doorbell, sleep_ns);
        sim_lock();
    }
    sim_unlock();
    return NULL;
}

int sim_engine_start(void)
{
    int err = sim_fabric_open();

    if (err) return err;
    sim.key_salt = (uint32_t)sim_random();
    sim.running  = true;
    if (sim_schedule_on()) sim_schedule_nic_start();
    err = pthread_create(&sim.thread, NULL, run_thread, NULL);
    if (err) {
        sim.running = false;
        sim_fabric_close();
    }
    return err;
}

void sim_engine_stop(void)
{
    sim_lock();
    sim.running = false;
    sim_unlock();
    if (sim_schedule_on()) sim_schedule_nic_stop();
    else sim_fabric_ring_mine();
    pthread_join(sim.thread, NULL);
    while (nobodies) {
        struct sim_held *held = nobodies;
        nobodies              = held->next;
        free(held);
    }
    sim_fabric_close();
}
