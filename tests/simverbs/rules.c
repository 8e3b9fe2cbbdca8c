/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulator is as strict as hardware: two queue pairs of one process, and for each rule a program that breaks it.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 8192, DEPTH = 8 };

static struct ibv_context *context;
static struct ibv_pd      *pd;
static struct ibv_mr      *mr, *read_only;
static struct ibv_srq     *srq;
static unsigned char       memory[BYTES], constant[64];
static int                 failures;

/* One connection: `a` sends to `b`. */
struct pair {
    struct ibv_cq *cq_a, *cq_b;
    struct ibv_qp *a, *b;
};

#define EXPECT(condition)                                                   \
    do {                                                                    \
        if (!(condition)) {                                                 \
            printf("%s:%d: %s is false\n", __func__, __LINE__, #condition); \
            failures++;                                                     \
        }                                                                   \
    } while (0)

static struct ibv_qp *create(struct ibv_cq *cq, struct ibv_srq *shared)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = cq,
        .recv_cq = cq,
        .srq     = shared,
        .cap     = {.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 2, .max_recv_sge = 2, .max_inline_data = 64},
        .qp_type = IBV_QPT_RC,
    };
    return ibv_create_qp(pd, &attr);
}

static int to_init(struct ibv_qp *qp, unsigned access)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access};
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static int to_rtr(struct ibv_qp *qp, uint32_t peer)
{
    struct ibv_qp_attr attr = {
        .qp_state           = IBV_QPS_RTR,
        .path_mtu           = IBV_MTU_1024,
        .dest_qp_num        = peer,
        .max_dest_rd_atomic = 4,
        .min_rnr_timer      = 1,
        .ah_attr            = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1, .hop_limit = 64}},
    };
    ibv_query_gid(context, 1, 1, &attr.ah_attr.grh.dgid);
    return ibv_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                             IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .timeout = 8, .retry_cnt = 2, .rnr_retry = 2, .max_rd_atomic = 4};
    return ibv_modify_qp(
        qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static struct pair open_pair(unsigned access, struct ibv_srq *shared)
{
    struct pair p = {.cq_a = ibv_create_cq(context, 32, NULL, NULL, 0), .cq_b = ibv_create_cq(context, 32, NULL, NULL, 0)};
    p.a           = create(p.cq_a, NULL);
    p.b           = create(p.cq_b, shared);
    if (to_init(p.a, access) || to_init(p.b, access) || to_rtr(p.a, p.b->qp_num) || to_rtr(p.b, p.a->qp_num) || to_rts(p.a) ||
        to_rts(p.b)) {
        printf("two queue pairs cannot be connected\n");
        exit(1);
    }
    return p;
}

static void close_pair(struct pair *p)
{
    if (p->a) ibv_destroy_qp(p->a);
    if (p->b) ibv_destroy_qp(p->b);
    EXPECT(ibv_destroy_cq(p->cq_a) == 0);
    EXPECT(ibv_destroy_cq(p->cq_b) == 0);
}

/* The next completion; a status of -1: none comes. */
static struct ibv_wc next(struct ibv_cq *cq)
{
    struct ibv_wc   wc    = {0};
    struct timespec pause = {.tv_nsec = 100000};
    for (int i = 0; i < 20000; i++) {
        if (ibv_poll_cq(cq, 1, &wc) == 1) return wc;
        if (i > 100) nanosleep(&pause, NULL);
    }
    wc.status = (enum ibv_wc_status) - 1;
    return wc;
}

static struct ibv_sge     sge;
static struct ibv_send_wr request(enum ibv_wr_opcode opcode, size_t from, size_t to, uint32_t bytes)
{
    struct ibv_send_wr wr = {.opcode = opcode, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1, .wr_id = 7};
    sge                   = (struct ibv_sge){.addr = (uintptr_t)memory + from, .length = bytes, .lkey = mr->lkey};
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
        wr.wr.atomic.remote_addr = (uintptr_t)memory + to;
        wr.wr.atomic.rkey        = mr->rkey;
        wr.wr.atomic.compare_add = 5;
    } else {
        wr.wr.rdma.remote_addr = (uintptr_t)memory + to;
        wr.wr.rdma.rkey        = mr->rkey;
    }
    return wr;
}

static int post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad = NULL;
    return ibv_post_send(qp, wr, &bad);
}

static int post_receive(struct ibv_qp *qp, size_t at, uint32_t bytes)
{
    struct ibv_sge      to  = {.addr = (uintptr_t)memory + at, .length = bytes, .lkey = mr->lkey};
    struct ibv_recv_wr  wr  = {.sg_list = &to, .num_sge = 1, .wr_id = 9};
    struct ibv_recv_wr *bad = NULL;
    return qp->srq ? ibv_post_srq_recv(qp->srq, &wr, &bad) : ibv_post_recv(qp, &wr, &bad);
}

static const unsigned all = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/* Post it on a fresh connection, and see the status it ends with. */
static enum ibv_wc_status status_of(struct ibv_send_wr *wr, unsigned access)
{
    struct pair   p  = open_pair(access, NULL);
    int           e  = post(p.a, wr);
    struct ibv_wc wc = {.status = IBV_WC_GENERAL_ERR};
    if (!e) wc = next(p.cq_a);
    if (wc.status != IBV_WC_SUCCESS) EXPECT(p.a->state == IBV_QPS_ERR);
    close_pair(&p);
    return wc.status;
}

/* ---- the rules ---- */

static void states_change_as_allowed_only(void)
{
    struct ibv_cq     *cq = ibv_create_cq(context, 8, NULL, NULL, 0);
    struct ibv_qp     *qp = create(cq, NULL);
    struct ibv_qp_attr attr;
    struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    EXPECT(to_rtr(qp, 1) == EINVAL);
    EXPECT(to_rts(qp) == EINVAL);
    EXPECT(post(qp, &wr) == EINVAL);
    EXPECT(post_receive(qp, 0, 8) == EINVAL);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1};
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT) == EINVAL); /* no access flags */
    EXPECT(to_init(qp, all) == 0);
    EXPECT(to_rts(qp) == EINVAL);
    EXPECT(post(qp, &wr) == EINVAL);
    EXPECT(post_receive(qp, 0, 8) == 0);
    EXPECT(to_rtr(qp, qp->qp_num) == 0);
    EXPECT(to_init(qp, all) == EINVAL);
    EXPECT(to_rts(qp) == 0);
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_ERR};
    EXPECT(ibv_modify_qp(qp, &attr, IBV_QP_STATE) == 0);
    EXPECT(next(cq).status == IBV_WC_WR_FLUSH_ERR);
    EXPECT(to_rts(qp) == EINVAL);
    EXPECT(post(qp, &wr) == 0); /* is flushed */
    EXPECT(next(cq).status == IBV_WC_WR_FLUSH_ERR);
    EXPECT(ibv_destroy_cq(cq) == EBUSY);
    ibv_destroy_qp(qp);
    EXPECT(ibv_destroy_cq(cq) == 0);
}

static void good_requests_succeed(void)
{
    uint64_t           old, word = 37;
    struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 0, 1024, 300);
    for (int i = 0; i < 300; i++) memory[i] = (unsigned char)(i + 1);
    EXPECT(status_of(&wr, all) == IBV_WC_SUCCESS);
    EXPECT(memcmp(memory, memory + 1024, 300) == 0);
    wr = request(IBV_WR_RDMA_READ, 2048, 1024, 300);
    EXPECT(status_of(&wr, all) == IBV_WC_SUCCESS);
    EXPECT(memcmp(memory, memory + 2048, 300) == 0);
    memcpy(memory + 512, &word, 8);
    wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 520, 512, 8);
    EXPECT(status_of(&wr, all) == IBV_WC_SUCCESS);
    memcpy(&old, memory + 520, 8);
    memcpy(&word, memory + 512, 8);
    EXPECT(old == 37 && word == 42);
    wr                       = request(IBV_WR_ATOMIC_CMP_AND_SWP, 520, 512, 8);
    wr.wr.atomic.compare_add = 42;
    wr.wr.atomic.swap        = 99;
    EXPECT(status_of(&wr, all) == IBV_WC_SUCCESS);
    memcpy(&word, memory + 512, 8);
    EXPECT(word == 99);
}

static void keys_ranges_and_permissions_are_checked(void)
{
    struct ibv_pd     *other   = ibv_alloc_pd(context);
    struct ibv_mr     *foreign = ibv_reg_mr(other, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    struct ibv_send_wr wr      = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    wr.wr.rdma.rkey            = mr->lkey;
    EXPECT(status_of(&wr, all) == IBV_WC_REM_ACCESS_ERR);
    wr.wr.rdma.rkey = foreign->rkey;
    EXPECT(status_of(&wr, all) == IBV_WC_REM_ACCESS_ERR);
    wr = request(IBV_WR_RDMA_WRITE, 0, BYTES - 7, 8);
    EXPECT(status_of(&wr, all) == IBV_WC_REM_ACCESS_ERR);
    wr                     = request(IBV_WR_RDMA_WRITE, 0, 0, 8);
    wr.wr.rdma.remote_addr = (uintptr_t)memory - 1;
    EXPECT(status_of(&wr, all) == IBV_WC_REM_ACCESS_ERR);
    wr = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    EXPECT(status_of(&wr, IBV_ACCESS_REMOTE_READ) == IBV_WC_REM_ACCESS_ERR); /* the queue pair does not allow it */
    wr                     = request(IBV_WR_RDMA_WRITE, 0, 0, 8);
    wr.wr.rdma.remote_addr = (uintptr_t)constant;
    wr.wr.rdma.rkey        = read_only->rkey;
    EXPECT(status_of(&wr, all) == IBV_WC_REM_ACCESS_ERR);
    wr       = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    sge.lkey = mr->rkey;
    EXPECT(status_of(&wr, all) == IBV_WC_LOC_PROT_ERR);
    wr       = request(IBV_WR_RDMA_READ, 0, 64, 8);
    sge.addr = (uintptr_t)constant;
    sge.lkey = read_only->lkey;
    EXPECT(status_of(&wr, all) == IBV_WC_LOC_PROT_ERR); /* what is read has to be written here */
    wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 516, 8);
    EXPECT(status_of(&wr, all) == IBV_WC_REM_INV_REQ_ERR); /* not aligned */
    wr                     = request(IBV_WR_RDMA_WRITE, 0, 0, 0);
    wr.wr.rdma.rkey        = 0;
    wr.wr.rdma.remote_addr = 0;
    EXPECT(status_of(&wr, all) == IBV_WC_SUCCESS); /* of no bytes neither key nor address is looked at */
    EXPECT(ibv_dealloc_pd(other) == EBUSY);
    EXPECT(ibv_dereg_mr(foreign) == 0);
    EXPECT(ibv_dealloc_pd(other) == 0);
}

static void registration_looks_at_the_memory(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char  *hole = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(hole + page, page);
    EXPECT(ibv_reg_mr(pd, hole, 2 * page, IBV_ACCESS_LOCAL_WRITE) == NULL && errno == EFAULT);
    EXPECT(ibv_reg_mr(pd, hole, page, IBV_ACCESS_REMOTE_WRITE) == NULL && errno == EINVAL); /* without LOCAL_WRITE */
    munmap(hole, page);
}

static void what_is_too_much_is_refused(void)
{
    struct pair        p      = open_pair(all, NULL);
    struct ibv_send_wr wr     = request(IBV_WR_RDMA_WRITE, 0, 64, 65);
    struct ibv_sge     two[3] = {sge, sge, sge};
    wr.send_flags |= IBV_SEND_INLINE;
    EXPECT(post(p.a, &wr) == EINVAL);
    wr         = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    wr.sg_list = two;
    wr.num_sge = 3;
    EXPECT(post(p.a, &wr) == EINVAL);
    wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 512, 4);
    EXPECT(post(p.a, &wr) == EINVAL);
    wr        = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    wr.opcode = IBV_WR_TSO;
    EXPECT(post(p.a, &wr) == EINVAL);
    close_pair(&p);
}

/* Completion is not enough: entries of the queue come free when it is polled. */
static void send_entries_come_free_by_polling(void)
{
    struct pair        p  = open_pair(all, NULL);
    struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    struct timespec    t  = {.tv_nsec = 20000000};
    wr.send_flags         = 0;
    for (int i = 0; i < DEPTH - 1; i++) EXPECT(post(p.a, &wr) == 0);
    wr.send_flags = IBV_SEND_SIGNALED;
    EXPECT(post(p.a, &wr) == 0);
    nanosleep(&t, NULL);
    EXPECT(post(p.a, &wr) == ENOMEM);
    EXPECT(next(p.cq_a).status == IBV_WC_SUCCESS);
    for (int i = 0; i < DEPTH; i++) EXPECT(post(p.a, &wr) == 0);
    EXPECT(post(p.a, &wr) == ENOMEM);
    close_pair(&p);
}

static void sends_find_receives_or_wait(void)
{
    struct pair        p  = open_pair(all, NULL);
    struct ibv_send_wr wr = request(IBV_WR_SEND_WITH_IMM, 0, 0, 100);
    struct ibv_wc      wc;
    wr.imm_data = htobe32(0x1234);
    EXPECT(post(p.a, &wr) == 0); /* nothing is posted there: it comes again */
    EXPECT(post_receive(p.b, 4096, 100) == 0);
    wc = next(p.cq_b);
    EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV && wc.byte_len == 100 && wc.wr_id == 9);
    EXPECT(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == htobe32(0x1234));
    EXPECT(memcmp(memory, memory + 4096, 100) == 0);
    EXPECT(next(p.cq_a).status == IBV_WC_SUCCESS);
    EXPECT(post(p.a, &wr) == 0); /* and never is */
    EXPECT(next(p.cq_a).status == IBV_WC_RNR_RETRY_EXC_ERR);
    close_pair(&p);

    p  = open_pair(all, NULL);
    wr = request(IBV_WR_SEND, 0, 0, 101);
    EXPECT(post_receive(p.b, 4096, 100) == 0); /* too small */
    EXPECT(post(p.a, &wr) == 0);
    EXPECT(next(p.cq_b).status == IBV_WC_LOC_LEN_ERR);
    EXPECT(next(p.cq_a).status == IBV_WC_REM_INV_REQ_ERR);
    close_pair(&p);
}

static void immediates_take_a_receive(void)
{
    struct pair        p  = open_pair(all, srq);
    struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 1024, 50);
    struct ibv_wc      wc;
    wr.imm_data = htobe32(77);
    EXPECT(post_receive(p.b, 4096, 0) == 0);
    EXPECT(post(p.a, &wr) == 0);
    wc = next(p.cq_b);
    EXPECT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.byte_len == 50 &&
           wc.imm_data == htobe32(77));
    EXPECT(wc.qp_num == p.b->qp_num);
    EXPECT(next(p.cq_a).status == IBV_WC_SUCCESS);
    close_pair(&p);
}

static void nobody_answers_for_a_queue_pair_that_is_gone(void)
{
    struct pair        p  = open_pair(all, NULL);
    struct ibv_send_wr wr = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    ibv_destroy_qp(p.b);
    p.b           = NULL;
    wr.send_flags = 0; /* an error is told all the same */
    EXPECT(post(p.a, &wr) == 0);
    EXPECT(post(p.a, &wr) == 0);
    EXPECT(next(p.cq_a).status == IBV_WC_RETRY_EXC_ERR);
    EXPECT(next(p.cq_a).status == IBV_WC_WR_FLUSH_ERR);
    close_pair(&p);
}

static bool event_comes(enum ibv_event_type wanted)
{
    struct ibv_async_event event;
    struct timespec        pause = {.tv_nsec = 1000000};
    for (int i = 0; ibv_get_async_event(context, &event); i++) {
        if (i == 5000) return false;
        nanosleep(&pause, NULL);
    }
    ibv_ack_async_event(&event);
    return event.event_type == wanted;
}

static void drain_events(void)
{
    struct ibv_async_event event;
    while (ibv_get_async_event(context, &event) == 0) ibv_ack_async_event(&event);
}

static void events_tell_of_errors_and_low_queues(void)
{
    struct pair         p     = open_pair(all, srq);
    struct ibv_srq_attr limit = {.srq_limit = 2};
    struct ibv_send_wr  wr    = request(IBV_WR_SEND, 0, 0, 8);
    drain_events();
    EXPECT(post_receive(p.b, 4096, 8) == 0);
    EXPECT(post_receive(p.b, 4096, 8) == 0);
    EXPECT(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT) == 0);
    EXPECT(post(p.a, &wr) == 0);
    EXPECT(next(p.cq_b).status == IBV_WC_SUCCESS);
    EXPECT(event_comes(IBV_EVENT_SRQ_LIMIT_REACHED));
    EXPECT(next(p.cq_a).status == IBV_WC_SUCCESS);
    wr              = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    wr.wr.rdma.rkey = 1;
    EXPECT(post(p.a, &wr) == 0);
    EXPECT(next(p.cq_a).status == IBV_WC_REM_ACCESS_ERR);
    EXPECT(event_comes(IBV_EVENT_QP_ACCESS_ERR));
    EXPECT(event_comes(IBV_EVENT_QP_LAST_WQE_REACHED));
    close_pair(&p);

    p  = open_pair(all, NULL);
    wr = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    EXPECT(ibv_resize_cq(p.cq_a, 1) == 0);
    EXPECT(post(p.a, &wr) == 0);
    EXPECT(post(p.a, &wr) == 0);
    EXPECT(event_comes(IBV_EVENT_CQ_ERR));
    close_pair(&p);
}

static void channels_ring_once_when_armed(void)
{
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    struct pair              p       = open_pair(all, NULL);
    struct ibv_cq           *cq      = ibv_create_cq(context, 8, &failures, channel, 0), *got;
    struct ibv_qp           *qp      = create(cq, NULL);
    void                    *user;
    struct ibv_send_wr       wr = request(IBV_WR_RDMA_WRITE, 0, 64, 8);
    EXPECT(to_init(qp, all) == 0 && to_rtr(qp, qp->qp_num) == 0 && to_rts(qp) == 0);
    EXPECT(ibv_req_notify_cq(cq, 0) == 0);
    EXPECT(post(qp, &wr) == 0);
    EXPECT(post(qp, &wr) == 0);
    EXPECT(ibv_get_cq_event(channel, &got, &user) == 0 && got == cq && user == &failures);
    EXPECT(ibv_destroy_comp_channel(channel) == EBUSY);
    ibv_ack_cq_events(cq, 1);
    ibv_destroy_qp(qp);
    EXPECT(ibv_destroy_cq(cq) == 0);
    EXPECT(ibv_destroy_comp_channel(channel) == 0);
    close_pair(&p);
}

int main(void)
{
    int                      count   = 0;
    struct ibv_device      **devices = ibv_get_device_list(&count);
    struct ibv_srq_init_attr shared  = {.attr = {.max_wr = 8, .max_sge = 1}};
    context                          = count > 0 ? ibv_open_device(devices[0]) : NULL;
    if (!context || strncmp(ibv_get_device_name(devices[0]), "sim", 3) != 0) {
        printf("this is not the simulated libibverbs.so.1: LD_LIBRARY_PATH?\n");
        return 1;
    }
    ibv_free_device_list(devices);
    fcntl(context->async_fd, F_SETFL, O_NONBLOCK); /* no event: an error, not a hang */
    pd        = ibv_alloc_pd(context);
    mr        = ibv_reg_mr(pd, memory, BYTES, IBV_ACCESS_LOCAL_WRITE | all);
    read_only = ibv_reg_mr(pd, constant, sizeof constant, IBV_ACCESS_REMOTE_READ);
    srq       = ibv_create_srq(pd, &shared);

    states_change_as_allowed_only();
    good_requests_succeed();
    keys_ranges_and_permissions_are_checked();
    registration_looks_at_the_memory();
    what_is_too_much_is_refused();
    send_entries_come_free_by_polling();
    sends_find_receives_or_wait();
    immediates_take_a_receive();
    nobody_answers_for_a_queue_pair_that_is_gone();
    events_tell_of_errors_and_low_queues();
    channels_ring_once_when_armed();

    EXPECT(ibv_destroy_srq(srq) == 0);
    EXPECT(ibv_dereg_mr(mr) == 0 && ibv_dereg_mr(read_only) == 0);
    EXPECT(ibv_dealloc_pd(pd) == 0);
    EXPECT(ibv_close_device(context) == 0);
    return failures ? 1 : 0;
}
