/* SPDX-License-Identifier: Apache-2.0
 *
 * Completion queues, their channels, and asynchronous events. A channel and the events of a context are pipes of object
 * numbers: a number whose object is gone by then is skipped.
 */
#include "schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- channels ---- */

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    int                 fds[2];
    struct sim_channel *c = calloc(1, sizeof(*c));

    if (!c) return NULL;
    if (pipe2(fds, O_CLOEXEC) < 0) {
        free(c);
        return NULL;
    }
    fcntl(fds[1], F_SETFL, O_NONBLOCK);
    c->channel  = (struct ibv_comp_channel){.context = context, .fd = fds[0]};
    c->write_fd = fds[1];
    return &c->channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    struct sim_channel *c = (struct sim_channel *)channel;

    if (channel->refcnt) return EBUSY;
    close(channel->fd);
    close(c->write_fd);
    free(c);
    return 0;
}

static void write_number(int fd, const void *record, size_t bytes)
{
    sim_schedule_busy();
    /* A pipe holds thousands of numbers, and a queue has one under way at a time. */
    if (write(fd, record, bytes) != (ssize_t)bytes) abort();
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq_out, void **cq_context_out)
{
    for (;;) {
        uint32_t number = 0;
        ssize_t  got    = read(channel->fd, &number, sizeof(number));
        if (got != (ssize_t)sizeof(number)) return -1;
        sim_lock();
        struct sim_cq *cq = sim_table_find(&sim.cqs, number);
        if (cq) cq->comp_events++;
        sim_unlock();
        if (!cq) continue;
        *cq_out         = (struct ibv_cq *)&cq->cq;
        *cq_context_out = cq->cq.cq_context;
        return 0;
    }
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += count;
    pthread_cond_broadcast(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}

/* ---- asynchronous events ---- */

enum element { ELEMENT_PORT, ELEMENT_CQ, ELEMENT_QP, ELEMENT_SRQ };

struct event {
    uint32_t type;
    uint32_t element;
    uint32_t number;
};

static void raise_event(struct ibv_context *context, enum ibv_event_type type, enum element element, uint32_t number)
{
    struct event event = {.type = (uint32_t)type, .element = element, .number = number};

    write_number(sim_context_of(context)->async_write_fd, &event, sizeof(event));
}

void sim_event_qp(struct sim_qp *qp, enum ibv_event_type type)
{
    raise_event(sim_ibv_qp(qp)->context, type, ELEMENT_QP, sim_ibv_qp(qp)->handle);
}

void sim_event_srq(struct sim_srq *srq, enum ibv_event_type type)
{
    raise_event(srq->srq.context, type, ELEMENT_SRQ, srq->srq.handle);
}

static bool find_element(const struct event *event, struct ibv_async_event *out)
{
    struct sim_cq  *cq  = sim_table_find(&sim.cqs, event->number);
    struct sim_qp  *qp  = sim_table_find(&sim.qps, event->number);
    struct sim_srq *srq = sim_table_find(&sim.srqs, event->number);

    switch ((enum element)event->element) {
    case ELEMENT_PORT: out->element.port_num = (int)event->number; return true;
    case ELEMENT_CQ:
        if (cq) cq->async_events++;
        out->element.cq = (struct ibv_cq *)cq;
        return cq != NULL;
    case ELEMENT_QP:
        if (qp) qp->async_events++;
        out->element.qp = (struct ibv_qp *)qp;
        return qp != NULL;
    case ELEMENT_SRQ:
        if (srq) srq->async_events++;
        out->element.srq = (struct ibv_srq *)srq;
        return srq != NULL;
    }
    return false;
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event_out)
{
    for (;;) {
        struct event event;
        if (read(context->async_fd, &event, sizeof(event)) != (ssize_t)sizeof(event)) return -1;
        event_out->event_type = (enum ibv_event_type)event.type;
        sim_lock();
        bool found = find_element(&event, event_out);
        sim_unlock();
        if (found) return 0;
    }
}

static void acknowledge(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *completed)
{
    pthread_mutex_lock(mutex);
    ++*completed;
    pthread_cond_broadcast(cond);
    pthread_mutex_unlock(mutex);
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
    struct ibv_cq  *cq  = event->element.cq;
    struct ibv_qp  *qp  = event->element.qp;
    struct ibv_srq *srq = event->element.srq;

    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: acknowledge(&cq->mutex, &cq->cond, &cq->async_events_completed); break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED: acknowledge(&qp->mutex, &qp->cond, &qp->events_completed); break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: acknowledge(&srq->mutex, &srq->cond, &srq->events_completed); break;
    default: break;
    }
}

/* ---- completion queues ---- */

void sim_completion_add(struct sim_cq *cq, const struct sim_cqe *cqe, bool solicited)
{
    if (cq->head - cq->tail == cq->room) {
        if (!cq->overrun) raise_event(cq->cq.context, IBV_EVENT_CQ_ERR, ELEMENT_CQ, cq->cq.handle);
        cq->overrun = true;
        return;
    }
    cq->entries[cq->head++ % cq->room] = *cqe;
    sim_schedule_busy();
    if (sim_watch) sim_watch(cqe->send ? "completes" : "is received", cqe->wc.qp_num, 0, 0, cqe->wc.byte_len);
    if (cq->armed == 1 || (cq->armed == 2 && (solicited || cqe->wc.status != IBV_WC_SUCCESS))) {
        cq->armed = 0;
        if (cq->cq.channel) write_number(((struct sim_channel *)cq->cq.channel)->write_fd, &cq->cq.handle, sizeof(cq->cq.handle));
    }
}

/* What is left of a queue pair that is destroyed goes from its completion queue. */
void sim_completion_forget(struct sim_cq *cq, uint32_t qpn)
{
    uint32_t kept = cq->tail;

    for (uint32_t i = cq->tail; i != cq->head; i++) {
        struct sim_cqe cqe = cq->entries[i % cq->room];
        if (cqe.wc.qp_num != qpn) cq->entries[kept++ % cq->room] = cqe;
    }
    cq->head = kept;
}

static void take(struct sim_cq *cq, struct sim_cqe *out)
{
    *out = cq->entries[cq->tail++ % cq->room];
    if (!out->send) return;
    /* The entries of a send queue are free again when a completion behind them has been polled, not before. */
    struct sim_qp *qp = sim_table_find(&sim.qps, out->qpn & ((1U << 17) - 1));
    if (qp && sim_ibv_qp(qp)->qp_num == out->qpn) qp->polled = out->send_count;
}

int sim_poll_cq(struct ibv_cq *ibv_cq, int entries, struct ibv_wc *wc)
{
    static _Thread_local unsigned empty_polls;
    struct sim_cq                *cq = (struct sim_cq *)ibv_cq;
    int                           n  = 0;

    /* Who polls in a loop does not keep its peer from running, where they share a core. */
    if (empty_polls % 32 == 31 && !sim_schedule_on()) sched_yield();
    sim_lock();
    if (cq->head == cq->tail) sim_engine_run();
    while (n < entries && cq->tail != cq->head) {
        struct sim_cqe cqe;
        take(cq, &cqe);
        wc[n++] = cqe.wc;
    }
    if (n == 0 && cq->overrun) n = -1;
    sim_unlock();
    if (n) sim_schedule_busy();
    empty_polls = n ? 0 : empty_polls + 1;
    return n;
}

int sim_req_notify_cq(struct ibv_cq *ibv_cq, int solicited_only)
{
    struct sim_cq *cq = (struct sim_cq *)ibv_cq;

    sim_lock();
    /* Armed for any completion stays so. */
    if (cq->armed != 1) cq->armed = solicited_only ? 2 : 1;
    sim_unlock();
    return 0;
}

/* ---- the extended interface: one completion at a time, read by field ---- */

static int next_poll(struct ibv_cq_ex *current)
{
    struct sim_cq *cq  = (struct sim_cq *)current;
    int            err = 0;

    sim_lock();
    if (cq->head == cq->tail) sim_engine_run();
    if (cq->head == cq->tail) err = ENOENT;
    else take(cq, &cq->current);
    sim_unlock();
    if (!err) {
        current->wr_id  = cq->current.wc.wr_id;
        current->status = cq->current.wc.status;
    }
    return err;
}

static int start_poll(struct ibv_cq_ex *current, struct ibv_poll_cq_attr *attr)
{
    return attr->comp_mask ? EINVAL : next_poll(current);
}

static void end_poll(struct ibv_cq_ex *current)
{
    (void)current;
}

#define READ(type, name, expression)                                      \
    static type read_##name(struct ibv_cq_ex *current)                    \
    {                                                                     \
        const struct sim_cqe *cqe = &((struct sim_cq *)current)->current; \
        return expression;                                                \
    }
READ(enum ibv_wc_opcode, opcode, cqe->wc.opcode)
READ(uint32_t, vendor_err, cqe->wc.vendor_err)
READ(uint32_t, byte_len, cqe->wc.byte_len)
READ(__be32, imm_data, cqe->wc.imm_data)
READ(uint32_t, qp_num, cqe->wc.qp_num)
READ(uint32_t, src_qp, cqe->wc.src_qp)
READ(unsigned, wc_flags, cqe->wc.wc_flags)
READ(uint32_t, slid, cqe->wc.slid)
READ(uint8_t, sl, cqe->wc.sl)
READ(uint8_t, dlid_path_bits, cqe->wc.dlid_path_bits)
READ(uint64_t, completion_ts, cqe->stamp_ns)
READ(uint64_t, completion_wallclock_ns, cqe->stamp_ns)
#undef READ

static void set_readers(struct ibv_cq_ex *cq)
{
    cq->start_poll                   = start_poll;
    cq->next_poll                    = next_poll;
    cq->end_poll                     = end_poll;
    cq->read_opcode                  = read_opcode;
    cq->read_vendor_err              = read_vendor_err;
    cq->read_byte_len                = read_byte_len;
    cq->read_imm_data                = read_imm_data;
    cq->read_qp_num                  = read_qp_num;
    cq->read_src_qp                  = read_src_qp;
    cq->read_wc_flags                = read_wc_flags;
    cq->read_slid                    = read_slid;
    cq->read_sl                      = read_sl;
    cq->read_dlid_path_bits          = read_dlid_path_bits;
    cq->read_completion_ts           = read_completion_ts;
    cq->read_completion_wallclock_ns = read_completion_wallclock_ns;
}

static struct sim_cq *make_cq(struct ibv_context *context, unsigned cqe, void *cq_context, struct ibv_comp_channel *channel)
{
    if (cqe < 1 || cqe > sim_options.cqe_max) {
        errno = EINVAL;
        return NULL;
    }
    struct sim_cq *cq = calloc(1, sizeof(*cq));
    if (!cq) return NULL;
    cq->entries = calloc(cqe, sizeof(*cq->entries));
    if (!cq->entries) {
        free(cq);
        return NULL;
    }
    cq->room          = cqe;
    cq->cq.context    = context;
    cq->cq.channel    = channel;
    cq->cq.cq_context = cq_context;
    cq->cq.cqe        = (int)cqe;
    pthread_mutex_init(&cq->cq.mutex, NULL);
    pthread_cond_init(&cq->cq.cond, NULL);
    set_readers(&cq->cq);
    sim_lock();
    cq->cq.handle = sim_table_add(&sim.cqs, cq);
    if (channel) channel->refcnt++;
    sim_unlock();
    return cq;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel, int vector)
{
    if (cqe < 1 || vector != 0) {
        errno = EINVAL;
        return NULL;
    }
    return (struct ibv_cq *)make_cq(context, (unsigned)cqe, cq_context, channel);
}

struct ibv_cq_ex *sim_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    const uint64_t known =
        IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

    if (attr->wc_flags & ~known || attr->comp_vector != 0) {
        errno = EOPNOTSUPP;
        return NULL;
    }
    return (struct ibv_cq_ex *)make_cq(context, attr->cqe, attr->cq_context, attr->channel);
}

int ibv_resize_cq(struct ibv_cq *ibv_cq, int cqe)
{
    struct sim_cq *cq  = (struct sim_cq *)ibv_cq;
    int            err = 0;

    if (cqe < 1 || (unsigned)cqe > sim_options.cqe_max) return EINVAL;
    struct sim_cqe *entries = calloc((size_t)cqe, sizeof(*entries));
    if (!entries) return ENOMEM;
    sim_lock();
    if (cq->head - cq->tail > (unsigned)cqe) {
        err = EINVAL;
    } else {
        uint32_t n = 0;
        for (uint32_t i = cq->tail; i != cq->head; i++) entries[n++] = cq->entries[i % cq->room];
        struct sim_cqe *old = cq->entries;
        cq->entries         = entries;
        entries             = old;
        cq->tail            = 0;
        cq->head            = n;
        cq->room            = (uint32_t)cqe;
        cq->cq.cqe          = cqe;
    }
    sim_unlock();
    free(entries);
    return err;
}

int ibv_destroy_cq(struct ibv_cq *ibv_cq)
{
    struct sim_cq *cq = (struct sim_cq *)ibv_cq;

    sim_lock();
    bool used = cq->users > 0;
    if (!used) sim_table_remove(&sim.cqs, cq->cq.handle);
    sim_unlock();
    if (used) return EBUSY;
    /* Every event that was fetched is acknowledged first, as verbs(3) wants it. */
    pthread_mutex_lock(&ibv_cq->mutex);
    while (ibv_cq->comp_events_completed != cq->comp_events || ibv_cq->async_events_completed != cq->async_events)
        pthread_cond_wait(&ibv_cq->cond, &ibv_cq->mutex);
    pthread_mutex_unlock(&ibv_cq->mutex);
    if (cq->cq.channel) {
        sim_lock();
        cq->cq.channel->refcnt--;
        sim_unlock();
    }
    pthread_mutex_destroy(&ibv_cq->mutex);
    pthread_cond_destroy(&ibv_cq->cond);
    free(cq->entries);
    free(cq);
    return 0;
}
