/* SPDX-License-Identifier: Apache-2.0
 *
 * What waits for its time: packets on the wire, and completions that come late.
 */
#include "engine.h"

uint64_t sim_line_free_ps;

uint64_t sim_engine_due(uint32_t bytes)
{
    uint64_t now = sim_now_ns();

    if (!sim_options.wire_ns && !sim_options.rate_mbits) return 0;
    if (bytes == 0) return now + sim_options.wire_ns; /* answers and requests of no bytes wait for nobody */
    if (sim_line_free_ps < now * 1000) sim_line_free_ps = now * 1000;
    if (sim_options.rate_mbits) sim_line_free_ps += (uint64_t)bytes * 8000000 / sim_options.rate_mbits;
    return sim_line_free_ps / 1000 + sim_options.wire_ns;
}

void sim_held_append(struct sim_held_list *list, struct sim_held *held, uint64_t due_ns)
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

uint64_t sim_held_delay(void)
{
    return sim_options.chaos ? sim_random_below(sim_options.delay_ns_max) : 0;
}

void sim_held_clear(struct sim_held_list *list)
{
    while (list->first) {
        struct sim_held *held = list->first;
        list->first           = held->next;
        free(held);
    }
}

struct sim_held *sim_held_pop_due(struct sim_held_list *list, uint64_t now_ns)
{
    struct sim_held *held = list->first;

    if (!held || held->due_ns > now_ns) return NULL;
    list->first = held->next;
    return held;
}

void sim_held_deliver(struct sim_qp *qp, struct ibv_cq *cq, struct sim_cqe *cqe, bool solicited)
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
    sim_held_append(&qp->completions, held, sim_now_ns() + sim_held_delay());
}

void sim_engine_receive_done(struct sim_qp *qp, struct sim_cqe *cqe, bool solicited)
{
    sim_held_deliver(qp, sim_ibv_qp(qp)->recv_cq, cqe, solicited);
}
