/* SPDX-License-Identifier: Apache-2.0
 *
 * The NIC: packets go from the rings to their queue pairs, and every queue pair moves on. It is run by a thread of its own and
 * by whoever calls a verb, or step by step where the scheduler decides.
 *
 * Rings lose nothing and keep their order, so there are no sequence numbers of packets and no retransmission of lost ones. What a
 * program can see of those is kept: see requester.c.
 */
#include "engine.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>

enum {
    ROUNDS_MAX    = 64,       /* of one call, so that others get the lock */
    SLEEP_NS      = 20000000, /* of the thread, while nothing rings       */
    SLEEP_NS_BUSY = 200000,   /* while something is delayed               */
};

static struct sim_held *nobodies; /* answers that found no room yet */

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
    if (p->kind == SIM_REQUEST) sim_responder_take(qp, p);
    else if (p->kind == SIM_DATAGRAM) sim_responder_take_datagram(qp, p);
    else sim_requester_take(qp, p);
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
    sim_held_append(&qp->arrivals, held, (p->due_ns ? p->due_ns : sim_now_ns()) + sim_held_delay());
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

/* ---- all of it ---- */

static bool release_held(struct sim_qp *qp, uint64_t now_ns)
{
    struct sim_held *held = NULL;
    bool             some = false;

    while (qp->landing_count < SIM_LANDINGS_MAX && (held = sim_held_pop_due(&qp->arrivals, now_ns))) {
        take_packet(&held->packet);
        free(held);
        some = true;
    }
    while ((held = sim_held_pop_due(&qp->completions, now_ns))) {
        sim_completion_add(held->cq, &held->cqe, held->solicited);
        free(held);
        some = true;
    }
    return some;
}

static bool run_qp(struct sim_qp *qp)
{
    bool some = sim_requester_run_timer(qp);

    some |= release_held(qp, sim_now_ns());
    if (sim_options.chaos) {
        if (sim_random_below(2)) some |= sim_responder_land(qp);
        if (sim_random_below(2)) some |= sim_responder_send(qp);
        if (sim_random_below(2)) some |= sim_requester_send(qp);
        return some;
    }
    while (sim_responder_send(qp)) some = true;
    for (int n = 0; n < 32 && sim_requester_send(qp); n++) some = true;
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

/* As a queue pair is in the reset state: nothing posted, nothing under way. */
void sim_engine_reset_qp(struct sim_qp *qp)
{
    sim_responder_clear(qp);
    sim_held_clear(&qp->arrivals);
    sim_held_clear(&qp->completions);
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
    case ACTION_TIMER: return sim_requester_run_timer(qp);
    case ACTION_ARRIVAL:
        held = qp->landing_count < SIM_LANDINGS_MAX ? sim_held_pop_due(&qp->arrivals, now) : NULL;
        if (held) take_packet(&held->packet);
        break;
    case ACTION_COMPLETION:
        held = sim_held_pop_due(&qp->completions, now);
        if (held) sim_completion_add(held->cq, &held->cqe, held->solicited);
        break;
    case ACTION_LAND: return sim_responder_land(qp);
    case ACTION_ANSWER: return sim_responder_send(qp);
    case ACTION_SEND: return sim_requester_send(qp);
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
    if (sim_line_free_ps && sim_requester_has_to_send(qp)) due = earlier(due, (sim_line_free_ps + 999) / 1000);
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
    sim_line_free_ps                                                          = 0;
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
        if (qp->arrivals.first || qp->completions.first || qp->landings || (sim_line_free_ps && sim_requester_has_to_send(qp)))
            return SLEEP_NS_BUSY;
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
    err = sim_schedule_create_nic(&sim.thread, run_thread);
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
