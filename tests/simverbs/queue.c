/* SPDX-License-Identifier: Apache-2.0
 *
 * Queue pairs and shared receive queues: creation, the legal changes of state with what each must and may bring, and the
 * error state, which flushes everything posted.
 */
#include "sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { QPN_BITS = 17 };

/* ---- receives ---- */

static int receives_init(struct sim_receives *r, uint32_t room, uint32_t sge_max)
{
    r->room    = room;
    r->sge_max = sge_max;
    if (room == 0) return 0;
    r->entries = calloc(room, sizeof(*r->entries));
    r->sges    = calloc((size_t)room * (sge_max ? sge_max : 1), sizeof(*r->sges));
    if (!r->entries || !r->sges) return ENOMEM;
    for (uint32_t i = 0; i < room; i++) r->entries[i].sge = &r->sges[(size_t)i * sge_max];
    return 0;
}

static void receives_finish(struct sim_receives *r)
{
    free(r->entries);
    free(r->sges);
}

/* ---- shared receive queues ---- */

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    if (attr->attr.max_wr < 1 || attr->attr.max_wr > sim_options.srq_wr_max || attr->attr.max_sge > sim_options.sge_max) {
        errno = EINVAL;
        return NULL;
    }
    struct sim_srq *srq = calloc(1, sizeof(*srq));
    if (!srq) return NULL;
    if (receives_init(&srq->receives, attr->attr.max_wr, attr->attr.max_sge)) {
        receives_finish(&srq->receives);
        free(srq);
        errno = ENOMEM;
        return NULL;
    }
    srq->srq = (struct ibv_srq){.context = pd->context, .srq_context = attr->srq_context, .pd = pd};
    pthread_mutex_init(&srq->srq.mutex, NULL);
    pthread_cond_init(&srq->srq.cond, NULL);
    sim_lock();
    srq->srq.handle = sim_table_add(&sim.srqs, srq);
    sim_unlock();
    return &srq->srq;
}

struct ibv_srq *sim_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    (void)context;
    if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) ||
        (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return ibv_create_srq(attr->pd, (struct ibv_srq_init_attr *)attr);
}

int sim_get_srq_num(struct ibv_srq *srq, uint32_t *number_out)
{
    *number_out = srq->handle;
    return 0;
}

int ibv_modify_srq(struct ibv_srq *ibv_srq, struct ibv_srq_attr *attr, int mask)
{
    struct sim_srq *srq = (struct sim_srq *)ibv_srq;

    if (mask & IBV_SRQ_MAX_WR) return EOPNOTSUPP;
    if (mask & IBV_SRQ_LIMIT) {
        if (attr->srq_limit > srq->receives.room) return EINVAL;
        sim_lock();
        srq->limit = attr->srq_limit;
        sim_unlock();
    }
    return 0;
}

int ibv_query_srq(struct ibv_srq *ibv_srq, struct ibv_srq_attr *attr)
{
    const struct sim_srq *srq = (struct sim_srq *)ibv_srq;

    *attr = (struct ibv_srq_attr){.max_wr = srq->receives.room, .max_sge = srq->receives.sge_max, .srq_limit = srq->limit};
    return 0;
}

int ibv_destroy_srq(struct ibv_srq *ibv_srq)
{
    struct sim_srq *srq = (struct sim_srq *)ibv_srq;

    sim_lock();
    bool used = srq->users > 0;
    if (!used) sim_table_remove(&sim.srqs, ibv_srq->handle);
    sim_unlock();
    if (used) return EBUSY;
    pthread_mutex_lock(&ibv_srq->mutex);
    while (ibv_srq->events_completed != srq->async_events) pthread_cond_wait(&ibv_srq->cond, &ibv_srq->mutex);
    pthread_mutex_unlock(&ibv_srq->mutex);
    pthread_mutex_destroy(&ibv_srq->mutex);
    pthread_cond_destroy(&ibv_srq->cond);
    receives_finish(&srq->receives);
    free(srq);
    return 0;
}

/* ---- creation of queue pairs ---- */

static void free_qp(struct sim_qp *qp)
{
    receives_finish(&qp->receives);
    free(qp->wqes);
    free(qp->sges);
    free(qp->inline_data);
    free(qp->receive_sges);
    free(qp->batch);
    free(qp->batch_sges);
    free(qp->batch_inline);
    free(qp);
}

static bool cap_fits(const struct ibv_qp_cap *cap, bool has_srq)
{
    return cap->max_send_wr <= sim_options.qp_wr_max && (has_srq || cap->max_recv_wr <= sim_options.qp_wr_max) &&
           cap->max_send_sge <= sim_options.sge_max && (has_srq || cap->max_recv_sge <= sim_options.sge_max) &&
           cap->max_inline_data <= sim_options.inline_bytes_max;
}

static int allocate_queues(struct sim_qp *qp)
{
    const struct ibv_qp_cap *cap     = &qp->cap;
    uint32_t                 sge_max = cap->max_send_sge ? cap->max_send_sge : 1;

    qp->send_room    = cap->max_send_wr ? cap->max_send_wr : 1;
    qp->wqes         = calloc(qp->send_room, sizeof(*qp->wqes));
    qp->sges         = calloc((size_t)qp->send_room * sge_max, sizeof(*qp->sges));
    qp->inline_data  = calloc(qp->send_room, cap->max_inline_data ? cap->max_inline_data : 1);
    qp->receive_sges = calloc(sim_options.sge_max, sizeof(*qp->receive_sges));
    if (!qp->wqes || !qp->sges || !qp->inline_data || !qp->receive_sges) return ENOMEM;
    for (uint32_t i = 0; i < qp->send_room; i++) {
        qp->wqes[i].sge         = &qp->sges[(size_t)i * sge_max];
        qp->wqes[i].inline_data = &qp->inline_data[(size_t)i * cap->max_inline_data];
    }
    return receives_init(&qp->receives, sim_ibv_qp(qp)->srq ? 0 : cap->max_recv_wr, cap->max_recv_sge);
}

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, bool extended)
{
    if ((attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UD) || !attr->send_cq || !attr->recv_cq) {
        errno = attr->send_cq && attr->recv_cq ? EOPNOTSUPP : EINVAL;
        return NULL;
    }
    if (!cap_fits(&attr->cap, attr->srq)) {
        errno = EINVAL;
        return NULL;
    }
    struct sim_qp *qp = calloc(1, sizeof(*qp));
    if (!qp) return NULL;
    *sim_ibv_qp(qp) = (struct ibv_qp){
        .context    = pd->context,
        .qp_context = attr->qp_context,
        .pd         = pd,
        .send_cq    = attr->send_cq,
        .recv_cq    = attr->recv_cq,
        .srq        = attr->srq,
        .state      = IBV_QPS_RESET,
        .qp_type    = attr->qp_type,
    };
    qp->cap        = attr->cap;
    qp->signal_all = attr->sq_sig_all;
    if (attr->srq) qp->cap.max_recv_wr = qp->cap.max_recv_sge = 0;
    if (allocate_queues(qp)) {
        free_qp(qp);
        errno = ENOMEM;
        return NULL;
    }
    if (extended) sim_post_extended(qp);
    pthread_mutex_init(&sim_ibv_qp(qp)->mutex, NULL);
    pthread_cond_init(&sim_ibv_qp(qp)->cond, NULL);
    sim_engine_reset_qp(qp);

    sim_lock();
    uint32_t number = sim_table_add(&sim.qps, qp);
    if (number && number < 1U << QPN_BITS) {
        sim_ibv_qp(qp)->handle = number;
        sim_ibv_qp(qp)->qp_num = (uint32_t)sim_fabric_slot() << QPN_BITS | number;
        qp->next               = sim.qp_list;
        sim.qp_list            = qp;
        ((struct sim_cq *)attr->send_cq)->users++;
        ((struct sim_cq *)attr->recv_cq)->users++;
        if (attr->srq) ((struct sim_srq *)attr->srq)->users++;
    }
    sim_unlock();
    if (sim_ibv_qp(qp)->qp_num == 0) {
        free_qp(qp);
        errno = ENOMEM;
        return NULL;
    }
    attr->cap = qp->cap;
    return sim_ibv_qp(qp);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    return make_qp(pd, attr, false);
}

struct ibv_qp *sim_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    const uint64_t ops = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
                         IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                         IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    bool extended = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

    (void)context;
    if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) ||
        attr->comp_mask & ~(uint32_t)(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
        (extended && attr->send_ops_flags & ~ops)) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return make_qp(attr->pd, (struct ibv_qp_init_attr *)attr, extended);
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    struct sim_qp *q = sim_qp_of(qp);

    return q->ex.wr_start ? &q->ex : NULL;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    struct sim_qp *q = sim_qp_of(qp);

    sim_lock();
    for (struct sim_qp **link = &sim.qp_list; *link; link = &(*link)->next) {
        if (*link == q) {
            *link = q->next;
            break;
        }
    }
    sim_table_remove(&sim.qps, qp->handle);
    sim_completion_forget((struct sim_cq *)qp->send_cq, qp->qp_num);
    sim_completion_forget((struct sim_cq *)qp->recv_cq, qp->qp_num);
    ((struct sim_cq *)qp->send_cq)->users--;
    ((struct sim_cq *)qp->recv_cq)->users--;
    if (qp->srq) ((struct sim_srq *)qp->srq)->users--;
    sim_engine_reset_qp(q);
    sim_unlock();
    pthread_mutex_lock(&qp->mutex);
    while (qp->events_completed != q->async_events) pthread_cond_wait(&qp->cond, &qp->mutex);
    pthread_mutex_unlock(&qp->mutex);
    pthread_mutex_destroy(&qp->mutex);
    pthread_cond_destroy(&qp->cond);
    free_qp(q);
    return 0;
}

/* ---- changes of state ---- */

struct change {
    enum ibv_qp_type  type;
    enum ibv_qp_state from;
    enum ibv_qp_state to;
    int               must;
    int               may;
};

static const struct change changes[] = {
    {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
     IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
    {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_QKEY},
};

static bool is_legal(const struct sim_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
    mask &= ~IBV_QP_STATE;
    if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return (mask & ~IBV_QP_CUR_STATE) == 0;
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        const struct change *c = &changes[i];
        if (c->type == qp->ex.qp_base.qp_type && c->from == from && c->to == to)
            return (mask & c->must) == c->must && (mask & ~(c->must | c->may)) == 0;
    }
    return false;
}

static bool address_is_valid(const struct ibv_ah_attr *ah)
{
    if (ah->port_num != 1) return false;
    if (!sim_options.infiniband && !ah->is_global) return false; /* RoCE has no other address */
    if (ah->is_global && ah->grh.sgid_index >= (sim_options.infiniband ? 1 : SIM_GIDS)) return false;
    return ah->is_global || ah->dlid != 0;
}

static bool values_are_valid(const struct ibv_qp_attr *attr, int mask)
{
    if (mask & IBV_QP_PORT && attr->port_num != 1) return false;
    if (mask & IBV_QP_PKEY_INDEX && attr->pkey_index != 0) return false;
    if (mask & IBV_QP_AV && !address_is_valid(&attr->ah_attr)) return false;
    if (mask & IBV_QP_PATH_MTU && (attr->path_mtu < IBV_MTU_256 || attr->path_mtu > sim_options.mtu)) return false;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > sim_options.read_max) return false;
    if (mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > sim_options.read_max) return false;
    if (mask & IBV_QP_TIMEOUT && attr->timeout > 31) return false;
    if (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7) return false;
    if (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7) return false;
    if (mask & (IBV_QP_SQ_PSN | IBV_QP_RQ_PSN) && (attr->sq_psn | attr->rq_psn) >> 24) return false;
    return !(mask & IBV_QP_DEST_QPN) || attr->dest_qp_num >> 24 == 0;
}

static void take_values(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask)
{
#define TAKE(bit, field) \
    if (mask & (bit)) to->field = from->field
    TAKE(IBV_QP_ACCESS_FLAGS, qp_access_flags);
    TAKE(IBV_QP_PKEY_INDEX, pkey_index);
    TAKE(IBV_QP_PORT, port_num);
    TAKE(IBV_QP_QKEY, qkey);
    TAKE(IBV_QP_AV, ah_attr);
    TAKE(IBV_QP_PATH_MTU, path_mtu);
    TAKE(IBV_QP_TIMEOUT, timeout);
    TAKE(IBV_QP_RETRY_CNT, retry_cnt);
    TAKE(IBV_QP_RNR_RETRY, rnr_retry);
    TAKE(IBV_QP_RQ_PSN, rq_psn);
    TAKE(IBV_QP_SQ_PSN, sq_psn);
    TAKE(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
    TAKE(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
    TAKE(IBV_QP_MIN_RNR_TIMER, min_rnr_timer);
    TAKE(IBV_QP_DEST_QPN, dest_qp_num);
#undef TAKE
}

static int modify(struct sim_qp *q, const struct ibv_qp_attr *attr, int mask)
{
    struct ibv_qp    *qp   = sim_ibv_qp(q);
    enum ibv_qp_state from = qp->state;
    enum ibv_qp_state to   = mask & IBV_QP_STATE ? attr->qp_state : from;

    if (mask & IBV_QP_CUR_STATE && attr->cur_qp_state != from) return EINVAL;
    if (!is_legal(q, from, to, mask) || !values_are_valid(attr, mask)) return EINVAL;
    take_values(&q->attr, attr, mask);
    if (to == IBV_QPS_RESET) {
        sim_completion_forget((struct sim_cq *)qp->send_cq, qp->qp_num);
        sim_completion_forget((struct sim_cq *)qp->recv_cq, qp->qp_num);
        sim_engine_reset_qp(q);
    }
    if (to == IBV_QPS_ERR) sim_queue_fail(q);
    qp->state = to;
    sim_fabric_ring_mine();
    return 0;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    sim_lock();
    int err = modify(sim_qp_of(qp), attr, mask);
    sim_unlock();
    return err;
}

int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr)
{
    const struct sim_qp *q = sim_qp_of(qp);

    (void)mask;
    sim_lock();
    *attr              = q->attr;
    attr->qp_state     = qp->state;
    attr->cur_qp_state = qp->state;
    attr->cap          = q->cap;
    sim_unlock();
    *init_attr = (struct ibv_qp_init_attr){
        .qp_context = qp->qp_context,
        .send_cq    = qp->send_cq,
        .recv_cq    = qp->recv_cq,
        .srq        = qp->srq,
        .cap        = q->cap,
        .qp_type    = qp->qp_type,
        .sq_sig_all = q->signal_all,
    };
    return 0;
}

/* Whether the bytes of one write land in address order: never promised here. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void)qp;
    (void)op;
    (void)flags;
    return 0;
}

void sim_queue_flush(struct sim_qp *qp)
{
    while (qp->done != qp->posted) sim_engine_complete_send(qp, qp->done, IBV_WC_WR_FLUSH_ERR);
    if (qp->receive_taken) {
        qp->receive_taken  = false;
        struct sim_cqe cqe = {.wc = {.wr_id = qp->receive.wr_id, .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV}};
        sim_engine_receive_done(qp, &cqe, true);
    }
    while (qp->receives.tail != qp->receives.head) {
        const struct sim_receive *r   = &qp->receives.entries[qp->receives.tail++ % qp->receives.room];
        struct sim_cqe            cqe = {.wc = {.wr_id = r->wr_id, .status = IBV_WC_WR_FLUSH_ERR, .opcode = IBV_WC_RECV}};
        sim_engine_receive_done(qp, &cqe, true);
    }
}

void sim_queue_fail(struct sim_qp *qp)
{
    bool was = sim_ibv_qp(qp)->state == IBV_QPS_ERR;

    sim_ibv_qp(qp)->state = IBV_QPS_ERR;
    sim_queue_flush(qp);
    if (!was && sim_ibv_qp(qp)->srq) sim_event_qp(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

/* ---- what needs no more than this ---- */

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    if (!address_is_valid(attr)) {
        errno = EINVAL;
        return NULL;
    }
    struct sim_ah *ah = calloc(1, sizeof(*ah));
    if (!ah) return NULL;
    ah->ah   = (struct ibv_ah){.context = pd->context, .pd = pd};
    ah->attr = *attr;
    return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *ah)
{
    free(ah);
    return 0;
}

int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
    memset(attr, 0, sizeof(*attr));
    attr->port_num = port;
    attr->sl       = wc->sl;
    attr->dlid     = wc->slid;
    if (!(wc->wc_flags & IBV_WC_GRH)) return 0;
    attr->is_global     = 1;
    attr->grh.dgid      = grh->sgid;
    attr->grh.hop_limit = 0xff;
    for (unsigned index = 0; index < SIM_GIDS; index++) {
        union ibv_gid mine = sim_device_gid(sim_context_of(context)->device, index);
        if (memcmp(&mine, &grh->dgid, sizeof(mine)) == 0) attr->grh.sgid_index = (uint8_t)index; /* the last that fits: RoCE v2 */
    }
    return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port)
{
    struct ibv_ah_attr attr;

    ibv_init_ah_from_wc(pd->context, port, wc, grh, &attr);
    return ibv_create_ah(pd, &attr);
}
