/* SPDX-License-Identifier: Apache-2.0
 *
 * Work requests: a chain goes out with one doorbell, few of them ask for a completion, and none is posted that the queue has no room for.
 *
 * Completions. A completion retires all earlier requests of its queue. One is asked for by who needs to know (a `done` word, a read, a slot to
 * be given back), by every so many-th request, and by a request while no other completion is on its way: a lone put so needs nothing
 * more when quiet comes. Where the last request has not asked, quiet sends an empty write behind it.
 *
 * Credits. A request takes its place in the queue until it is retired, and one in the lane's completion queue: if the connection breaks, each
 * becomes a completion, also those that asked for none.
 */
#include "transports/ibverbs/verbs.h"

#include <string.h>

enum { POLL = 16 };

/* ---- posting ---- */

void shmemt_ibverbs_queue_refused(struct link *link, int err)
{
    shmemt_ibverbs_failure_note(link, -err, "cannot post to its queue: %s", strerror(err));
}

void shmemt_ibverbs_queue_post(struct batch *batch)
{
    struct ibv_send_wr *bad;
    if (batch->count == 0) return;
    bool answer = ((const struct record *)(uintptr_t)batch->wr[0].wr_id)->kind == RECORD_ANSWER;
    batch->wr[batch->count - 1].send_flags |= queue_claim(batch->link, batch->queue, batch->count, batch->wants_completion);
    if (!answer) queue_tail(batch->link, batch->queue);
    int err = ibv_post_send(batch->queue->qp, batch->wr, &bad);
    if (err) shmemt_ibverbs_queue_refused(batch->link, err);
}

void shmemt_ibverbs_queue_post_put(struct batch *batch, _Atomic uint32_t *done, bool copied)
{
    if (done && !copied) {
        ((struct record *)(uintptr_t)batch->wr[batch->count - 1].wr_id)->done = done;
        batch->wants_completion                                               = true;
    }
    shmemt_ibverbs_queue_post(batch);
    if (copied) shmemt_mapped_done(done);
}

int shmemt_ibverbs_queue_room(struct link *link, struct queue *queue, size_t requests)
{
    struct lane *lane = link->lane;
    if (queue_has_room(link, queue, (uint32_t)requests)) return 0;
    if (lane->in_flight + requests > lane->in_flight_max) shmemt_ibverbs_queue_starved(lane);
    return -EAGAIN;
}

static bool of_results(enum record_kind kind)
{
    return kind == RECORD_ATOMIC || kind == RECORD_LOOP || kind == RECORD_SIGNAL;
}

static void give_back(struct lane *lane, struct record *record)
{
    if (record->slot) shmemt_ibverbs_memory_give_slot(of_results(record->kind) ? &lane->results : &lane->ring, record->slot);
    if (record->hold) shmemt_ibverbs_memory_release(lane->verbs->memory, record->hold);
    record->slot = NULL;
    record->hold = NULL;
}

void shmemt_ibverbs_queue_cancel(struct batch *batch)
{
    for (unsigned i = 0; i < batch->count; i++) give_back(batch->link->lane, (struct record *)(uintptr_t)batch->wr[i].wr_id);
    batch->count = 0;
}

static bool flush(struct link *link, struct queue *queue)
{
    struct batch   batch;
    struct record *record;
    if (queue->posted - queue->retired > queue->mask || link->lane->in_flight >= link->lane->completions) return false;
    batch_begin(&batch, link, (unsigned)(queue - link->queues));
    struct ibv_send_wr *wr  = batch_add(&batch, IBV_WR_RDMA_WRITE, 0, RECORD_FLUSH, &record);
    record->bytes           = 0;
    wr->wr.rdma.remote_addr = 0; /* of an empty write neither address nor key is looked at */
    wr->wr.rdma.rkey        = 0;
    batch.wants_completion  = true;
    shmemt_ibverbs_queue_post(&batch);
    return true;
}

bool shmemt_ibverbs_queue_passed(struct link *link, struct queue *queue, uint32_t position)
{
    if ((int32_t)(queue->retired - position) >= 0) return true;
    if ((int32_t)(queue->signalled - position) < 0) flush(link, queue);
    return false;
}

bool shmemt_ibverbs_queue_drained(struct link *link)
{
    bool drained = true;
    for (unsigned i = 0; i < link->lane->verbs->queues; i++)
        if (!shmemt_ibverbs_queue_passed(link, &link->queues[i], link->queues[i].tail)) drained = false;
    return drained;
}

void shmemt_ibverbs_queue_ask(struct link *link)
{
    if (link->queues[0].posted == link->queues[0].retired) flush(link, &link->queues[0]);
}

void shmemt_ibverbs_queue_starved(struct lane *lane)
{
    for (struct link *link = lane->dirty; link; link = link->next_dirty)
        if (link->state == LINK_READY && !atomic_load_explicit(&link->failing, memory_order_relaxed))
            shmemt_ibverbs_queue_drained(link);
}

/* ---- completions ---- */

static void count_part(struct lane *lane, struct stripes *stripes)
{
    if (--stripes->left > 0) return;
    /* Before `done`: who sees that may unmap the memory, and what another operation then joined would be stale. */
    if (stripes->hold) shmemt_ibverbs_memory_release(lane->verbs->memory, stripes->hold);
    shmemt_mapped_done(stripes->done);
    if (stripes->signal) shmemt_ibverbs_atomic_release_signal(lane, stripes->signal);
    stripes->next      = lane->free_stripes;
    lane->free_stripes = stripes;
}

static void finish(struct record *record, bool good)
{
    struct lane *lane = record->link->lane;
    switch (record->kind) {
    case RECORD_READ:
        if (good && record->local) memcpy(record->local, record->slot, record->bytes);
        break;
    case RECORD_ATOMIC:
        if (good && record->local)
            shmemt_ibverbs_atomic_result(record->local, (unsigned)record->bytes, *(const uint64_t *)record->slot);
        break;
    case RECORD_LOOP: {
        uint64_t value = good ? *(const uint64_t *)record->slot : 0;
        give_back(lane, record);
        if (good) shmemt_ibverbs_atomic_step(lane, record->loop, value);
        return;
    }
    case RECORD_SIGNAL:
        if (good) shmemt_ibverbs_atomic_drop_signal(lane, record->loop);
        break;
    default: break;
    }
    give_back(lane, record);
    shmemt_mapped_done(record->done);
    if (record->stripes) count_part(lane, record->stripes);
}

static int retire(struct queue *queue, uint32_t end, bool good)
{
    int      count = 0;
    uint32_t first = queue->retired;
    for (; first + (uint32_t)count != end; count++) {
        struct record *record = &queue->records[(first + (uint32_t)count) & queue->mask];
        /* Before finish(), which may count a `done` word: who sees that may post again. */
        queue->retired++;
        record->link->lane->in_flight--;
        finish(record, good);
    }
    return count;
}

static int handle(const struct ibv_wc *wc)
{
    struct record *record = (struct record *)(uintptr_t)wc->wr_id;
    struct queue  *queue  = record->queue;
    if (lane_awaited(record->link->lane) > 0) lane_add_awaited(record->link->lane, UINT32_MAX);
    if (record->link->state == LINK_DEAD) return 0; /* from before its queue pair went */
    if (wc->status != IBV_WC_SUCCESS) {
        /* Nothing counts as done before the runtime knows of the failure: failure_tell() ends it. */
        shmemt_ibverbs_failure_completion(wc, record);
        return 1;
    }
    uint32_t index = (uint32_t)(record - queue->records);
    return retire(queue, queue->retired + ((index - queue->retired) & queue->mask) + 1, true);
}

int shmemt_ibverbs_queue_poll(struct lane *lane)
{
    struct ibv_wc completions[POLL];
    int           handled = 0, count;
    do {
        count = ibv_poll_cq(lane->cq, POLL, completions);
        for (int i = 0; i < count; i++) handled += handle(&completions[i]);
        if (count > 0) lane->polled += (unsigned)count;
    } while (count == POLL);
    return handled;
}

/* ---- the end ---- */

void shmemt_ibverbs_queue_end(struct link *link)
{
    for (unsigned i = 0; i < link->lane->verbs->queues; i++) retire(&link->queues[i], link->queues[i].posted, false);
    shmemt_ibverbs_atomic_end_loops(link);
}

void shmemt_ibverbs_queue_forget(struct link *link)
{
    for (unsigned i = 0; i < link->lane->verbs->queues; i++) {
        struct queue *queue = &link->queues[i];
        for (uint32_t at = queue->retired; at != queue->posted; at++) {
            struct record *record = &queue->records[at & queue->mask];
            record->done          = NULL;
            record->local         = NULL;
        }
    }
    for (int i = 0; i < WINDOW; i++) link->sent[i] = (struct sent){0};
    link->fetching = 0;
}
