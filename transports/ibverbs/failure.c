/* SPDX-License-Identifier: Apache-2.0
 *
 * Peers that are gone.
 *
 * The device tells: a request whose retries are used up, or that the peer refuses, completes with an error, and its queue pair takes nothing more. The
 * first error of a link becomes a line for a person; those that follow from it are not looked at. Nothing counts as done before the runtime
 * has been told. Then the queue pairs are destroyed, so that the device lets go of local memory, and what was under way ends.
 *
 * A peer's device may have taken a message, and the machine died before its CPU came to it. Then nothing is under way that could fail. So who
 * owes an acknowledgement for a second is asked, by an empty write.
 *
 * A peer that does not come to serve but whose connection stands is waited for: it may be in a debugger. Receivers that are not ready are retried
 * without end.
 */
#include "transports/ibverbs/verbs.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

int64_t shmemt_ibverbs_failure_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void shmemt_ibverbs_failure_note(struct link *link, int error, const char *format, ...)
{
    struct verbs *verbs = link->lane->verbs;
    va_list       args;
    if (atomic_load_explicit(&link->failing, memory_order_relaxed) || link->state == LINK_DEAD) return;
    va_start(args, format);
    vsnprintf(link->why, sizeof link->why, format, args);
    va_end(args);
    link->error = error < 0 ? error : -EIO;
    atomic_store_explicit(&link->failing, true, memory_order_release);
    atomic_store_explicit(&verbs->failures, true, memory_order_release); /* pairs with failure_tell's acquire */
}

/* ---- an error in words ---- */

static const char *operation_name(const struct record *record)
{
    switch (record->kind) {
    case RECORD_WRITE: return "write";
    case RECORD_READ: return "read";
    case RECORD_MESSAGE: return "message";
    case RECORD_ATOMIC:
    case RECORD_LOOP: return "atomic";
    case RECORD_SIGNAL: return "signal";
    case RECORD_FLUSH: return "flush";
    case RECORD_ANSWER: return "answer";
    }
    return "operation";
}

static const char *segment_name(int segment, char *buffer, size_t bytes)
{
    static const char *const names[] = {"ctrl", "data", "heap", "gpu"};
    if (segment < SHMEMT_SEGMENT_USER) return names[segment];
    snprintf(buffer, bytes, "region %d", segment);
    return buffer;
}

/* What is usually behind it. */
static const char *explain(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_RETRY_EXC_ERR: return "the peer or the way to it is gone";
    case IBV_WC_RNR_RETRY_EXC_ERR: return "the peer takes no messages";
    case IBV_WC_REM_ACCESS_ERR: return "its memory is not registered so: key, range or permission";
    case IBV_WC_REM_INV_REQ_ERR: return "the peer's device refuses the request";
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_ABORT_ERR: return "the peer's device could not carry it out";
    case IBV_WC_LOC_PROT_ERR: return "local memory is not registered for it";
    case IBV_WC_WR_FLUSH_ERR: return "the connection was broken already";
    default: return "the device gives no reason";
    }
}

static int error_of(enum ibv_wc_status status)
{
    switch (status) {
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_RNR_RETRY_EXC_ERR: return -EHOSTUNREACH;
    case IBV_WC_REM_ACCESS_ERR: return -EACCES;
    case IBV_WC_LOC_PROT_ERR: return -EFAULT;
    case IBV_WC_WR_FLUSH_ERR: return -ECONNRESET;
    default: return -EIO;
    }
}

void shmemt_ibverbs_failure_completion(const struct ibv_wc *wc, struct record *record)
{
    struct verbs *verbs = record->link->lane->verbs;
    char          name[24], where[64] = "";
    if (record->kind != RECORD_FLUSH && record->kind != RECORD_ANSWER && record->bytes > 0)
        snprintf(where, sizeof where, " of %llu bytes at %s + 0x%llx", (unsigned long long)record->bytes,
                 segment_name(record->segment, name, sizeof name), (unsigned long long)record->offset);
    shmemt_ibverbs_failure_note(record->link, error_of(wc->status), "%s%s: %s (%s; %s:%u%s%s)", operation_name(record), where,
                                ibv_wc_status_str(wc->status), explain(wc->status), verbs->device.port.device,
                                verbs->device.port.number, verbs->event[0] ? ", " : "", verbs->event);
}

/* ---- silence ---- */

void shmemt_ibverbs_failure_look(struct lane *lane)
{
    enum { SILENT_MS = 1000 };
    int64_t now = shmemt_ibverbs_failure_now();
    for (struct link *link = lane->dirty; link; link = link->next_dirty) {
        if (link->state != LINK_READY || message_all_answered(link)) continue;
        if (link->heard_ns == 0 || link->heard != link->acknowledged) {
            link->heard_ns = now;
            link->heard    = link->acknowledged;
        } else if (now - link->heard_ns > (int64_t)SILENT_MS * 1000000) {
            link->heard_ns = now;
            if (!atomic_load_explicit(&link->failing, memory_order_relaxed)) shmemt_ibverbs_queue_ask(link);
        }
    }
}

/* ---- the device about itself ---- */

static void fail_all(struct verbs *verbs)
{
    for (unsigned i = 0; i < LANES_MAX; i++) {
        struct lane *lane = verbs->lanes[i];
        if (!lane) continue;
        shmemi_latch_take(&lane->lock);
        for (const struct partner *partner = verbs->partners; partner; partner = partner->next)
            if (partner->links[i])
                shmemt_ibverbs_failure_note(partner->links[i], -EIO, "%s: %s", verbs->device.port.device, verbs->event);
        shmemi_latch_give(&lane->lock);
    }
}

static void fail_queue_pair(struct verbs *verbs, const struct ibv_qp *qp, enum ibv_event_type type)
{
    struct link *link = qp ? shmemt_ibverbs_connect_by_qpn(verbs, qp->qp_num) : NULL;
    if (!link) return;
    shmemi_latch_take(&link->lane->lock);
    shmemt_ibverbs_failure_note(link, -EIO, "its queue pair broke: %s (%s)", ibv_event_type_str(type), verbs->device.port.device);
    shmemi_latch_give(&link->lane->lock);
}

void shmemt_ibverbs_failure_events(struct verbs *verbs)
{
    struct ibv_async_event event;
    while (ibv_get_async_event(verbs->device.context, &event) == 0) {
        switch (event.event_type) {
        case IBV_EVENT_DEVICE_FATAL:
        case IBV_EVENT_CQ_ERR:
        case IBV_EVENT_SRQ_ERR:
            snprintf(verbs->event, sizeof verbs->event, "%s", ibv_event_type_str(event.event_type));
            fail_all(verbs);
            break;
        case IBV_EVENT_PORT_ERR: /* the retries tell whether it comes back in time */
            if (event.element.port_num == verbs->device.port.number)
                snprintf(verbs->event, sizeof verbs->event, "%s", ibv_event_type_str(event.event_type));
            break;
        case IBV_EVENT_PORT_ACTIVE: verbs->event[0] = '\0'; break;
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_QP_REQ_ERR: fail_queue_pair(verbs, event.element.qp, event.event_type); break;
        default: break;
        }
        ibv_ack_async_event(&event);
    }
}

/* ---- the end of a peer ---- */

/*
 * Receives that messages of the peer have taken: they come back as completions, and would be gone for ever with the queue pairs. All peers share
 * them, so with enough peers lost there would be none left. What was sent before the end may still be on its way to the queue.
 */
static void gather_receives(struct verbs *verbs)
{
    enum { QUIET_NS = 100000, ALL_NS = 2000000 };
    int64_t begin = shmemt_ibverbs_failure_now(), last = begin, now = begin;
    while (now - last < QUIET_NS && now - begin < ALL_NS) {
        int handled = shmemt_ibverbs_progress_receive(verbs);
        now         = shmemt_ibverbs_failure_now();
        if (handled > 0) last = now;
    }
}

/* The queue pairs stop; true if there were some. What still arrives over a dead link is not looked at. */
static bool stop_links(struct verbs *verbs, const struct partner *partner)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
    bool               some = false;
    for (unsigned i = 0; i < LANES_MAX; i++) {
        struct link *link = partner->links[i];
        if (!link || link->state == LINK_DEAD) continue;
        shmemi_latch_take(&link->lane->lock);
        for (unsigned q = 0; q < verbs->queues; q++)
            if (IBVERBS_BREAK != BREAK_LOSE && link->queues[q].qp) ibv_modify_qp(link->queues[q].qp, &attr, IBV_QP_STATE);
        link->state = LINK_DEAD;
        link->ended = false;
        shmemi_latch_give(&link->lane->lock);
        some = true;
    }
    return some;
}

void shmemt_ibverbs_failure_lose(struct verbs *verbs, int pe)
{
    const struct partner *partner = shmemt_ibverbs_peer_lose(verbs, pe);
    if (!partner || !stop_links(verbs, partner)) return;
    gather_receives(verbs);
    for (unsigned i = 0; i < LANES_MAX; i++) {
        struct link *link = partner->links[i];
        if (!link || link->ended) continue;
        shmemi_latch_take(&link->lane->lock);
        if (IBVERBS_BREAK != BREAK_LOSE)
            shmemt_ibverbs_connect_break(link); /* from here on the device writes and reads nothing for it */
        link->ended = true;
        shmemt_ibverbs_queue_end(link);
        shmemt_ibverbs_message_end(link);
        shmemi_latch_give(&link->lane->lock);
    }
}

/* A peer of which a link is failing, with the words for it; it counts as lost from here on. -1: none. verbs.lock is held. */
static int take_failing(struct verbs *verbs, int *error_out, char *why_out, size_t why_bytes)
{
    for (struct partner *partner = verbs->partners; partner; partner = partner->next) {
        if (atomic_load_explicit(&partner->lost, memory_order_relaxed)) continue;
        for (unsigned i = 0; i < LANES_MAX; i++) {
            const struct link *link = partner->links[i]; /* a link that is there stays */
            if (!link || !atomic_load_explicit(&link->failing, memory_order_acquire)) continue;
            atomic_store_explicit(&partner->lost, true, memory_order_release);
            *error_out = link->error;
            snprintf(why_out, why_bytes, "%s", link->why);
            return partner->pe;
        }
    }
    return -1;
}

/* The flag goes down only when nothing is left: who then sees it down also sees the peers lost. */
static int take_failing_or_rest(struct verbs *verbs, int *error_out, char *why_out, size_t why_bytes)
{
    int pe = take_failing(verbs, error_out, why_out, why_bytes);
    if (pe >= 0) return pe;
    atomic_store_explicit(&verbs->failures, false, memory_order_seq_cst);
    pe = take_failing(verbs, error_out, why_out, why_bytes); /* one that came between */
    if (pe >= 0) atomic_store_explicit(&verbs->failures, true, memory_order_relaxed);
    return pe;
}

int shmemt_ibverbs_failure_tell(struct verbs *verbs)
{
    const struct shmemt_job *job = verbs->job;
    int                      err = 0;
    for (;;) {
        char why[sizeof((struct link *)NULL)->why];
        int  error = 0;
        shmemi_latch_take(&verbs->lock);
        int pe = take_failing_or_rest(verbs, &error, why, sizeof why);
        shmemi_latch_give(&verbs->lock);
        if (pe < 0) return err;
        if (job->failed) job->failed(pe, error, why); /* without locks: the runtime may end the job from here */
        err = -EHOSTDOWN;
        shmemi_latch_take(&verbs->lock);
        shmemt_ibverbs_failure_lose(verbs, pe);
        shmemi_latch_give(&verbs->lock);
    }
}
