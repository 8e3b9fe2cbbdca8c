/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics of a device with IBV_ATOMIC_HCA are atomic with each other, whatever queue pair they come by, and not with those of the CPU;
 * with IBV_ATOMIC_GLOB they are with both. Over many seeds, by the scheduler's clock.
 */
#include "simverbs.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUES = 3, ADDS = 8, SEEDS = 200 };

static uint64_t word, old[QUEUES * ADDS];

struct ends {
    struct ibv_context *context;
    struct ibv_pd      *pd;
    struct ibv_mr      *word, *old;
    struct ibv_cq      *cq;
    struct ibv_qp      *qp[QUEUES];
};

static _Noreturn void give_up(const char *what)
{
    printf("%s\n", what);
    exit(2);
}

/* A queue pair that is its own peer. */
static struct ibv_qp *connect_to_itself(struct ends *e)
{
    struct ibv_qp_init_attr init = {
        .send_cq = e->cq, .recv_cq = e->cq, .cap = {.max_send_wr = ADDS, .max_send_sge = 1}, .qp_type = IBV_QPT_RC};
    struct ibv_qp     *qp   = ibv_create_qp(e->pd, &init);
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_ATOMIC};
    if (!qp || ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        give_up("no queue pair");
    attr = (struct ibv_qp_attr){.qp_state           = IBV_QPS_RTR,
                                .path_mtu           = IBV_MTU_1024,
                                .dest_qp_num        = qp->qp_num,
                                .max_dest_rd_atomic = 4,
                                .ah_attr            = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = 1}}};
    ibv_query_gid(e->context, 1, 1, &attr.ah_attr.grh.dgid);
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
                          IBV_QP_MIN_RNR_TIMER))
        give_up("a queue pair cannot receive");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 12, .retry_cnt = 6, .max_rd_atomic = 4};
    if (ibv_modify_qp(qp, &attr,
                      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                          IBV_QP_MAX_QP_RD_ATOMIC))
        give_up("a queue pair cannot send");
    return qp;
}

static struct ends open_ends(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ends         e    = {.context = ibv_open_device(list[0])};
    ibv_free_device_list(list);
    if (!e.context) give_up("no device");
    e.pd   = ibv_alloc_pd(e.context);
    e.word = ibv_reg_mr(e.pd, &word, sizeof word, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
    e.old  = ibv_reg_mr(e.pd, old, sizeof old, IBV_ACCESS_LOCAL_WRITE);
    e.cq   = ibv_create_cq(e.context, QUEUES * ADDS, NULL, NULL, 0);
    for (int q = 0; q < QUEUES; q++) e.qp[q] = connect_to_itself(&e);
    return e;
}

static void close_ends(struct ends *e)
{
    for (int q = 0; q < QUEUES; q++) ibv_destroy_qp(e->qp[q]);
    ibv_destroy_cq(e->cq);
    ibv_dereg_mr(e->word);
    ibv_dereg_mr(e->old);
    ibv_dealloc_pd(e->pd);
    ibv_close_device(e->context);
}

static void post_add(struct ends *e, int q, int n)
{
    struct ibv_sge      sge = {.addr = (uintptr_t)&old[q * ADDS + n], .length = 8, .lkey = e->old->lkey};
    struct ibv_send_wr *bad, wr = {.opcode     = IBV_WR_ATOMIC_FETCH_AND_ADD,
                                   .send_flags = IBV_SEND_SIGNALED,
                                   .sg_list    = &sge,
                                   .num_sge    = 1,
                                   .wr.atomic  = {.remote_addr = (uintptr_t)&word, .compare_add = 1, .rkey = e->word->rkey}};
    if (ibv_post_send(e->qp[q], &wr, &bad)) give_up("an atomic is refused");
}

/* So many adds in all; how many the word has lost. */
static unsigned lose(uint64_t seed, const char *conditions, bool cpu_too)
{
    unsigned adds = QUEUES * ADDS, completed = 0;
    setenv("SIMVERBS", conditions, 1);
    simverbs_begin(0, seed);
    struct ends e = open_ends();
    word          = 0;
    for (int n = 0; n < ADDS; n++)
        for (int q = 0; q < QUEUES; q++) post_add(&e, q, n);
    while (completed < QUEUES * ADDS) {
        struct ibv_wc wc;
        if (ibv_poll_cq(e.cq, 1, &wc) == 1 && ++completed && wc.status != IBV_WC_SUCCESS) give_up(ibv_wc_status_str(wc.status));
        if (!cpu_too) continue;
        __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST);
        adds++;
    }
    close_ends(&e);
    simverbs_end();
    return adds - (unsigned)word;
}

static unsigned seeds_that_lose(const char *conditions, bool cpu_too)
{
    unsigned count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) count += lose(seed, conditions, cpu_too) > 0;
    printf("%-20s %s: %u of %d seeds lose updates\n", conditions, cpu_too ? "with the CPU " : "among devices", count, SEEDS);
    return count;
}

int main(void)
{
    simverbs_attach(0, 1, 1);
    bool good = seeds_that_lose("chaos=1,atomic=1", false) == 0;
    good &= seeds_that_lose("chaos=1,atomic=1", true) > 0;
    good &= seeds_that_lose("chaos=1,atomic=2", true) == 0;
    return good ? 0 : 1;
}
