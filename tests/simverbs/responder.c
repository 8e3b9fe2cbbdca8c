/* SPDX-License-Identifier: Apache-2.0
 *
 * The responder: what arrives lands, and is answered.
 *
 * It lands at once, or, under chaos, when the seed wants it: bytes of one message in any order, those of different messages in
 * theirs (unless both go to memory registered with relaxed ordering, or the fabric is unordered); receives, reads and
 * atomics after all bytes before them.
 */
#include "engine.h"

static struct sim_qp *atomic_owner; /* under chaos an atomic is a read and, later, a write */

static void answer(const struct sim_qp *qp, enum sim_kind kind, uint32_t msn, struct sim_packet *p)
{
    *p = (struct sim_packet){.kind = (uint8_t)kind, .dest_qpn = qp->attr.dest_qp_num, .msn = msn};
    sim_requester_address(qp, &qp->attr.ah_attr, p);
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
        sim_copy(l->address, l->bytes, l->length);
        return true;
    case SIM_LAND_RECEIVE: sim_held_deliver(qp, sim_ibv_qp(qp)->recv_cq, &l->cqe, l->solicited); return true;
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

bool sim_responder_land(struct sim_qp *qp)
{
    struct passed passed   = {.any = false};
    unsigned      eligible = 0;

    for (struct sim_landing *l = qp->landings; l; l = l->next) eligible += may_land(&passed, l);
    if (eligible == 0) return false;
    unsigned pick = sim_options.chaos ? sim_random_below(eligible) : 0;
    passed        = (struct passed){.any = false};
    for (struct sim_landing **link = &qp->landings; *link; link = &(*link)->next) {
        if (!may_land(&passed, *link) || pick-- > 0) continue;
        sim_schedule_busy();
        if (land(qp, *link)) {
            drop_landing(qp, link);
            return true;
        }
        if ((*link)->begun) return true;
        if (atomic_owner != qp) return false;
        finish_atomic(); /* an atomic of this queue pair waits for another one, which nobody else would end */
        return true;
    }
    return false;
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
        sim_copy(to, from, bytes);
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
        sim_held_deliver(qp, sim_ibv_qp(qp)->recv_cq, &cqe, solicited);
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
    sim_held_deliver(qp, sim_ibv_qp(qp)->recv_cq, &cqe, true);
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
        if (!to || !(qp->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE) || sim_chance(sim_options.access_chance)) {
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
        if (!from || !(qp->attr.qp_access_flags & access) || sim_chance(sim_options.access_chance)) {
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
    if (!sim_options.chaos) sim_responder_land(qp);
}

void sim_responder_take(struct sim_qp *qp, const struct sim_packet *p)
{
    if (p->msn != qp->expected || p->offset != qp->expected_bytes) {
        if ((int32_t)(qp->expected - p->msn) > 0) qp->ack_due = true; /* it came twice */
        return;                                                       /* behind one that was refused: comes again */
    }
    if (sim_is_send((enum ibv_wr_opcode)p->opcode)) take_send(qp, p);
    else if (sim_is_read((enum ibv_wr_opcode)p->opcode)) take_read(qp, p);
    else take_write(qp, p);
}

void sim_responder_take_datagram(struct sim_qp *qp, const struct sim_packet *p)
{
    struct ibv_grh grh = {.hop_limit = 64, .sgid = p->sgid, .dgid = p->dgid};

    if (p->qkey != qp->attr.qkey || !take_receive(qp)) return; /* dropped: nobody is told */
    enum ibv_wc_status status = fill_receive(qp, 0, 0, (const uint8_t *)&grh, sizeof(grh));
    if (status == IBV_WC_SUCCESS) status = fill_receive(qp, 0, sizeof(grh), (const uint8_t *)(p + 1), p->bytes);
    if (status != IBV_WC_SUCCESS) fail_receive(qp, p, status);
    else finish_receive(qp, p, IBV_WC_RECV, sizeof(grh) + p->bytes);
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

bool sim_responder_send(struct sim_qp *qp)
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

void sim_responder_clear(struct sim_qp *qp)
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
