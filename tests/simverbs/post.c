/* SPDX-License-Identifier: Apache-2.0
 *
 * Posting work requests: ibv_post_send, ibv_post_recv, ibv_post_srq_recv and the ibv_wr_ interface. What a library for
 * real hardware refuses at once (state, opcode, sizes, a full queue) is refused here; keys are looked at by the NIC.
 */
#include "sim.h"
#include "simverbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t requests, doorbells; /* for simverbs_posted() */

void simverbs_posted(uint64_t *requests_out, uint64_t *doorbells_out)
{
    sim_lock();
    *requests_out  = requests;
    *doorbells_out = doorbells;
    sim_unlock();
}

static bool opcode_is_known(const struct sim_qp *qp, enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM: return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ: return qp->ex.qp_base.qp_type == IBV_QPT_RC;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return qp->ex.qp_base.qp_type == IBV_QPT_RC && sim_options.atomic != IBV_ATOMIC_NONE;
    default: return false;
    }
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
    return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static uint64_t total_bytes(const struct ibv_sge *sge, int count)
{
    uint64_t sum = 0;

    for (int i = 0; i < count; i++) sum += sge[i].length;
    return sum;
}

static int check_send(const struct sim_qp *qp, const struct ibv_send_wr *wr)
{
    bool     datagram = qp->ex.qp_base.qp_type == IBV_QPT_UD;
    uint64_t bytes    = 0;

    if (!opcode_is_known(qp, wr->opcode)) return EINVAL;
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->cap.max_send_sge) return EINVAL;
    bytes = total_bytes(wr->sg_list, wr->num_sge);
    if (bytes > (datagram ? sim_mtu_bytes((enum ibv_mtu)sim_options.mtu) : sim_options.message_bytes_max)) return EINVAL;
    if (is_atomic(wr->opcode) && bytes != 8) return EINVAL;
    if (wr->send_flags & IBV_SEND_INLINE &&
        (bytes > qp->cap.max_inline_data || wr->opcode == IBV_WR_RDMA_READ || is_atomic(wr->opcode)))
        return EINVAL;
    if (datagram && !wr->wr.ud.ah) return EINVAL;
    return 0;
}

static void copy_inline(uint8_t *to, const struct ibv_sge *sge, int count)
{
    for (int i = 0; i < count; i++) {
        if (sge[i].length) memcpy(to, (const void *)(uintptr_t)sge[i].addr, sge[i].length);
        to += sge[i].length;
    }
}

static int post_one(struct sim_qp *qp, const struct ibv_send_wr *wr)
{
    enum ibv_qp_state state = qp->ex.qp_base.state;

    if (state != IBV_QPS_RTS && state != IBV_QPS_SQD && state != IBV_QPS_SQE && state != IBV_QPS_ERR) return EINVAL;
    int err = check_send(qp, wr);
    if (err) return err;
    if (qp->posted - qp->polled == qp->cap.max_send_wr) return ENOMEM;

    struct sim_wqe *wqe = sim_wqe(qp, qp->posted);
    wqe->wr             = *wr;
    wqe->wr.next        = NULL;
    wqe->wr.sg_list     = wqe->sge;
    wqe->length         = total_bytes(wr->sg_list, wr->num_sge);
    wqe->checked        = false;
    if (wr->send_flags & IBV_SEND_INLINE) copy_inline(wqe->inline_data, wr->sg_list, wr->num_sge);
    else if (wr->num_sge) memcpy(wqe->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*wqe->sge));
    if (qp->ex.qp_base.qp_type == IBV_QPT_UD) wqe->ah = ((struct sim_ah *)wr->wr.ud.ah)->attr;
    qp->posted++;
    if (state == IBV_QPS_ERR) sim_queue_flush(qp);
    return 0;
}

int sim_post_send(struct ibv_qp *ibv_qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    struct sim_qp *qp  = sim_qp_of(ibv_qp);
    int            err = 0;

    sim_lock();
    doorbells++;
    while (wr && !err) {
        err = post_one(qp, wr);
        if (err) break;
        wr = wr->next;
        requests++;
    }
    if (err) *bad_wr = wr;
    sim_engine_posted();
    sim_unlock();
    return err;
}

static int post_receive(struct sim_receives *r, const struct ibv_recv_wr *wr)
{
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > r->sge_max) return EINVAL;
    if (r->head - r->tail == r->room) return ENOMEM;
    struct sim_receive *entry = &r->entries[r->head % r->room];
    entry->wr_id              = wr->wr_id;
    entry->sges               = wr->num_sge;
    if (wr->num_sge) memcpy(entry->sge, wr->sg_list, (size_t)wr->num_sge * sizeof(*entry->sge));
    r->head++;
    return 0;
}

int sim_post_recv(struct ibv_qp *ibv_qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    struct sim_qp *qp  = sim_qp_of(ibv_qp);
    int            err = 0;

    sim_lock();
    if (ibv_qp->srq || ibv_qp->state == IBV_QPS_RESET) err = EINVAL;
    while (wr && !err) {
        err = post_receive(&qp->receives, wr);
        if (!err) wr = wr->next;
    }
    if (err) *bad_wr = wr;
    if (ibv_qp->state == IBV_QPS_ERR) sim_queue_flush(qp);
    sim_unlock();
    return err;
}

int sim_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    int err = 0;

    sim_lock();
    while (wr && !err) {
        err = post_receive(&((struct sim_srq *)srq)->receives, wr);
        if (!err) wr = wr->next;
    }
    if (err) *bad_wr = wr;
    sim_unlock();
    return err;
}

/*
 * ---- ibv_wr_*: a batch, collected between wr_start and wr_complete ----
 * As many requests as the send queue holds; scatter lists and inline bytes have room per request.
 */

static struct ibv_send_wr *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
    struct sim_qp            *qp = (struct sim_qp *)ex;
    static struct ibv_send_wr spare;

    if (qp->batch_count == qp->batch_room) {
        qp->batch_error = ENOMEM;
        return &spare;
    }
    struct ibv_send_wr *wr = &qp->batch[qp->batch_count++];
    *wr                    = (struct ibv_send_wr){.wr_id = ex->wr_id, .opcode = opcode, .send_flags = ex->wr_flags};
    return wr;
}

static uint32_t current(struct sim_qp *qp)
{
    return qp->batch_count ? qp->batch_count - 1 : 0;
}

static void wr_rdma(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t address, __be32 imm)
{
    struct ibv_send_wr *wr = begin(ex, opcode);

    wr->imm_data            = imm;
    wr->wr.rdma.remote_addr = address;
    wr->wr.rdma.rkey        = rkey;
}

static void wr_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address)
{
    wr_rdma(ex, IBV_WR_RDMA_WRITE, rkey, address, 0);
}

static void wr_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, __be32 imm)
{
    wr_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address, imm);
}

static void wr_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address)
{
    wr_rdma(ex, IBV_WR_RDMA_READ, rkey, address, 0);
}

static void wr_send(struct ibv_qp_ex *ex)
{
    begin(ex, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm)
{
    begin(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm;
}

static void wr_atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey, uint64_t address, uint64_t a, uint64_t b)
{
    struct ibv_send_wr *wr = begin(ex, opcode);

    wr->wr.atomic.remote_addr = address;
    wr->wr.atomic.rkey        = rkey;
    wr->wr.atomic.compare_add = a;
    wr->wr.atomic.swap        = b;
}

static void wr_compare_swap(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, uint64_t compare, uint64_t swap)
{
    wr_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address, compare, swap);
}

static void wr_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t address, uint64_t add)
{
    wr_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address, add, 0);
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t qpn, uint32_t qkey)
{
    struct sim_qp *qp = (struct sim_qp *)ex;

    qp->batch[current(qp)].wr.ud.ah          = ah;
    qp->batch[current(qp)].wr.ud.remote_qpn  = qpn;
    qp->batch[current(qp)].wr.ud.remote_qkey = qkey;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_sge *list)
{
    struct sim_qp  *qp  = (struct sim_qp *)ex;
    uint32_t        max = qp->cap.max_send_sge;
    struct ibv_sge *to  = &qp->batch_sges[(size_t)current(qp) * (max ? max : 1)];

    if (count > max) {
        qp->batch_error = EINVAL;
        return;
    }
    memcpy(to, list, count * sizeof(*to));
    qp->batch[current(qp)].sg_list = to;
    qp->batch[current(qp)].num_sge = (int)count;
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t address, uint32_t length)
{
    struct ibv_sge sge = {.addr = address, .length = length, .lkey = lkey};

    wr_set_sge_list(ex, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t count, const struct ibv_data_buf *list)
{
    struct sim_qp *qp   = (struct sim_qp *)ex;
    uint8_t       *to   = &qp->batch_inline[(size_t)current(qp) * qp->cap.max_inline_data];
    size_t         used = 0;

    for (size_t i = 0; i < count; i++) {
        if (list[i].length > qp->cap.max_inline_data - used) {
            qp->batch_error = EINVAL;
            return;
        }
        memcpy(to + used, list[i].addr, list[i].length);
        used += list[i].length;
    }
    wr_set_sge(ex, 0, (uintptr_t)to, (uint32_t)used);
    qp->batch[current(qp)].send_flags |= IBV_SEND_INLINE;
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *address, size_t length)
{
    struct ibv_data_buf buffer = {.addr = address, .length = length};

    wr_set_inline_data_list(ex, 1, &buffer);
}

static void wr_start(struct ibv_qp_ex *ex)
{
    struct sim_qp *qp = (struct sim_qp *)ex;

    qp->batch_count = 0;
    qp->batch_error = 0;
}

static int wr_complete(struct ibv_qp_ex *ex)
{
    struct sim_qp      *qp    = (struct sim_qp *)ex;
    struct ibv_send_wr *bad   = NULL;
    uint32_t            count = qp->batch_count;

    if (qp->batch_error) return qp->batch_error;
    /* All or nothing: a batch that does not fit is not begun. */
    if (qp->posted - qp->polled + count > qp->cap.max_send_wr) return ENOMEM;
    for (uint32_t i = 0; i + 1 < count; i++) qp->batch[i].next = &qp->batch[i + 1];
    return count ? sim_post_send(sim_ibv_qp(qp), qp->batch, &bad) : 0;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
    wr_start(ex);
}

void sim_post_extended(struct sim_qp *qp)
{
    uint32_t          sge_max = qp->cap.max_send_sge ? qp->cap.max_send_sge : 1;
    struct ibv_qp_ex *ex      = &qp->ex;

    qp->batch_room   = qp->send_room;
    qp->batch        = calloc(qp->batch_room, sizeof(*qp->batch));
    qp->batch_sges   = calloc((size_t)qp->batch_room * sge_max, sizeof(*qp->batch_sges));
    qp->batch_inline = calloc(qp->batch_room, qp->cap.max_inline_data ? qp->cap.max_inline_data : 1);
    if (!qp->batch || !qp->batch_sges || !qp->batch_inline) abort();
    ex->wr_atomic_cmp_swp       = wr_compare_swap;
    ex->wr_atomic_fetch_add     = wr_fetch_add;
    ex->wr_rdma_read            = wr_read;
    ex->wr_rdma_write           = wr_write;
    ex->wr_rdma_write_imm       = wr_write_imm;
    ex->wr_send                 = wr_send;
    ex->wr_send_imm             = wr_send_imm;
    ex->wr_set_ud_addr          = wr_set_ud_addr;
    ex->wr_set_inline_data      = wr_set_inline_data;
    ex->wr_set_inline_data_list = wr_set_inline_data_list;
    ex->wr_set_sge              = wr_set_sge;
    ex->wr_set_sge_list         = wr_set_sge_list;
    ex->wr_start                = wr_start;
    ex->wr_complete             = wr_complete;
    ex->wr_abort                = wr_abort;
}
