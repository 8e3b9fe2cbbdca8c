/* SPDX-License-Identifier: Apache-2.0
 *
 * The requester: what is posted leaves, packet by packet, and answers complete it.
 *
 * A message that found no receive (RNR) comes again with all behind it. Retries are used up only where nobody answers: the
 * peer has no such queue pair, or has died. One that lives and is slow is waited for.
 */
#include "engine.h"

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

    if (sent && sim_is_read(wqe->wr.opcode)) qp->reads--;
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
    sim_held_deliver(qp, sim_ibv_qp(qp)->send_cq, &cqe, false);
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

void sim_requester_address(const struct sim_qp *qp, const struct ibv_ah_attr *ah, struct sim_packet *p)
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
    unsigned access = sim_is_read(wqe->wr.opcode) ? IBV_ACCESS_LOCAL_WRITE : 0;

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
        .flags    = (uint8_t)((sim_has_immediate(wqe->wr.opcode) ? SIM_IMMEDIATE : 0) |
                           (wqe->wr.send_flags & IBV_SEND_SOLICITED ? SIM_SOLICITED : 0)),
        .dest_qpn = wqe->wr.wr.ud.remote_qpn,
        .imm_data = wqe->wr.imm_data,
        .qkey     = wqe->wr.wr.ud.remote_qkey & 0x80000000U ? qp->attr.qkey : wqe->wr.wr.ud.remote_qkey,
        .length   = wqe->length,
    };
    sim_requester_address(qp, &wqe->ah, p);
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
    bool last   = sim_is_read(wqe->wr.opcode) || qp->sent_bytes + bytes == wqe->length;

    *p = (struct sim_packet){
        .bytes       = bytes,
        .kind        = SIM_REQUEST,
        .opcode      = (uint8_t)wqe->wr.opcode,
        .flags       = (uint8_t)((qp->sent_bytes == 0 ? SIM_FIRST : 0) | (last ? SIM_LAST : 0) |
                           (sim_has_immediate(wqe->wr.opcode) ? SIM_IMMEDIATE : 0) |
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
    sim_requester_address(qp, &qp->attr.ah_attr, p);
}

/* May the next message begin? False: it waits, or has failed. */
static bool may_begin(struct sim_qp *qp, struct sim_wqe *wqe)
{
    if (wqe->wr.send_flags & IBV_SEND_FENCE && qp->reads) return false;
    if (sim_is_read(wqe->wr.opcode) && qp->reads >= qp->attr.max_rd_atomic) return false;
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
    uint64_t           left  = sim_is_read(wqe->wr.opcode) ? 0 : wqe->length - qp->sent_bytes;
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
        qp->reads += sim_is_read(wqe->wr.opcode);
    }
    return true;
}

bool sim_requester_has_to_send(const struct sim_qp *qp)
{
    return qp->ex.qp_base.state == IBV_QPS_RTS && qp->sent != qp->posted;
}

bool sim_requester_send(struct sim_qp *qp)
{
    if (sim_line_free_ps > sim_now_ns() * 1000) return false; /* the port still sends */
    if (!sim_requester_has_to_send(qp) || qp->rnr_until_ns > sim_now_ns()) return false;
    return sim_ibv_qp(qp)->qp_type == IBV_QPT_UD ? send_datagram(qp) : send_request(qp);
}

static void rewind_to(struct sim_qp *qp, uint32_t msn, uint64_t offset)
{
    qp->sent       = msn;
    qp->sent_bytes = offset;
    qp->reads      = 0;
    for (uint32_t i = qp->done; i != msn; i++) qp->reads += sim_is_read(sim_wqe(qp, i)->wr.opcode);
}

/* ---- answers ---- */

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
        if (to) sim_copy(to + offset, from, n);
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

void sim_requester_take(struct sim_qp *qp, const struct sim_packet *p)
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

bool sim_requester_run_timer(struct sim_qp *qp)
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
