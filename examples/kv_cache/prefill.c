/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending windows. See prefill.h, and README.md for the protocol.
 *
 * The KV cache that this PE owns is private memory, and would be hundreds of GB for a long trace. So it is a function
 * (content.h): a few pages at a time are made in a stage that stays in this core's cache, and are put from there.
 */
#include "prefill.h"

#include "cache.h"
#include "problem.h"

#include <shmem.h>
#include <stdlib.h>

enum {
    STAGE_BYTES     = 256 << 10, /* a part of a core's L2 cache */
    STAGE_PAGES_MAX = 256,
    STAGE_ALIGN     = 64,
};

/* Pages that are made and not yet put. */
struct stage {
    uint8_t *bytes;
    size_t   room; /* pages */
    size_t   count;
    uint8_t *dest[STAGE_PAGES_MAX]; /* where each goes: an address in the peer's pool */
};

struct prefill {
    const struct link *link;
    const struct job  *job;
    int                peer;
    struct cache      *cache;
    struct stage       stage;
    uint32_t          *table;       /* of the window being sent                      */
    uint32_t           missing;     /* its spans that are not resident               */
    uint64_t           layers_sent; /* so far: the value of the next signal, less 1  */
    uint64_t           credit;      /* windows_done, as last seen                    */
    uint32_t           block_spans; /* spans of the current block that were resident */
    struct counts     *counts;
};

struct prefill *prefill_create(const struct link *link)
{
    const struct job *job = link->job;
    struct prefill   *p   = malloc(sizeof *p);
    if (p == NULL) {
        problem("could not start the prefill side" WHY "out of memory" FIX "use a smaller pool");
        return NULL;
    }
    size_t room = STAGE_BYTES / job->page_bytes;
    room        = room < 1 ? 1 : room > STAGE_PAGES_MAX ? STAGE_PAGES_MAX : room;
    *p          = (struct prefill){
                 .link   = link,
                 .job    = job,
                 .peer   = job_peer(job),
                 .cache  = cache_create(job->slots, job->options.seed + (uint64_t)job->pair),
                 .stage  = {.room = room, .bytes = aligned_alloc(STAGE_ALIGN, room * job->page_stride)},
                 .table  = malloc(job->window_spans * sizeof *p->table),
                 .counts = link->counts,
    };
    if (p->cache == NULL || p->stage.bytes == NULL || p->table == NULL) {
        prefill_destroy(p);
        problem("could not start the prefill side" WHY "out of memory" FIX "use a smaller pool");
        return NULL;
    }
    return p;
}

void prefill_destroy(struct prefill *p)
{
    if (p != NULL) {
        cache_destroy(p->cache);
        free(p->stage.bytes);
        free(p->table);
        free(p);
    }
}

/* ---- the plan: a slot for every span ---- */

/* Wait until decode has finished reading a window and all before it. */
static void wait_for_credit(struct prefill *p, uint64_t window)
{
    if (p->credit >= window) {
        return;
    }
    uint64_t start = clock_ns();
    p->credit      = shmem_signal_wait_until(p->link->windows_done, SHMEM_CMP_GE, window);
    p->counts->credit_ns += clock_ns() - start;
}

/* The slot of one span, as the table shows it. */
static uint32_t place_span(struct prefill *p, struct span_id id, uint64_t window)
{
    uint32_t slot = cache_use(p->cache, id, window);
    if (slot != NO_SLOT) {
        return slot | TABLE_RESIDENT;
    }
    slot = cache_oldest(p->cache);
    wait_for_credit(p, cache_last_window(p->cache, slot));
    cache_place(p->cache, slot, id, window);
    return slot;
}

/* Count blocks, and those of which every span was resident. Spans of a request come in order. */
static void count_block(struct prefill *p, const struct window *w, uint32_t span, bool resident)
{
    uint32_t in_block = span % p->job->spans_per_block;
    if (in_block == 0) {
        p->counts->blocks++;
        p->block_spans = 0;
    }
    p->block_spans += resident;
    bool ends = in_block == p->job->spans_per_block - 1 || span == request_spans(p->job, w->request) - 1;
    if (ends && p->block_spans == in_block + 1) {
        p->counts->blocks_reused++;
    }
}

/*
 * Fill the table.
 *
 * A window takes at most a quarter of the slots (or one), so the oldest slot never belongs to the window itself, and waiting
 * for it always ends: what it waits for has been sent.
 */
static void plan(struct prefill *p, const struct window *w)
{
    if (w->number > WINDOWS_IN_FLIGHT) {
        wait_for_credit(p, w->number - WINDOWS_IN_FLIGHT); /* its table is overwritten */
    }
    p->missing = 0;
    for (uint32_t i = 0; i < w->spans; i++) {
        uint32_t       span = w->first + i;
        struct span_id id   = {
              .block = w->request->blocks[span / p->job->spans_per_block],
              .span  = span % p->job->spans_per_block,
        };
        p->table[i]   = place_span(p, id, w->number);
        bool resident = (p->table[i] & TABLE_RESIDENT) != 0;
        p->missing += !resident;
        count_block(p, w, span, resident);
    }
    uint64_t pages_per_span = (uint64_t)p->job->layers * p->job->parts;
    p->counts->windows++;
    p->counts->pages_sent += p->missing * pages_per_span;
    p->counts->pages_reused += (w->spans - p->missing) * pages_per_span;
}

/* ---- sending ---- */

/* Put the first count pages of the stage, without waiting for each. */
static void put_pages(struct prefill *p, size_t count)
{
    const struct job *job = p->job;
    for (size_t i = 0; i < count; i++) {
        shmem_putmem_nbi(p->stage.dest[i], p->stage.bytes + i * job->page_stride, job->page_bytes, p->peer);
    }
}

/* Empty a full stage. The quiet lets the stage be filled again. */
static void flush(struct prefill *p)
{
    uint64_t start = clock_ns();
    put_pages(p, p->stage.count);
    shmem_quiet();
    p->stage.count = 0;
    p->counts->put_ns += clock_ns() - start;
}

/* Make one page in the stage. */
static void stage_page(struct prefill *p, uint8_t *dest, uint64_t key)
{
    struct stage *stage = &p->stage;
    if (stage->count == stage->room) {
        flush(p);
    }
    content_fill(stage->bytes + stage->count * p->job->page_stride, p->job->page_bytes, key);
    stage->dest[stage->count++] = dest;
}

static void stage_layer(struct prefill *p, const struct window *w, uint32_t layer)
{
    for (uint32_t i = 0; i < w->spans; i++) {
        if (p->table[i] & TABLE_RESIDENT) {
            continue;
        }
        for (uint32_t part = 0; part < p->job->parts; part++) {
            uint8_t *dest = link_page(p->link, p->table[i], layer, part);
            stage_page(p, dest, content_key(window_page_id(p->job, w, i, layer, part)));
        }
    }
}

/*
 * Put what is staged, and signal that the layer is there.
 *
 * A signal vouches for its own payload only. So the fence comes before it, and orders all earlier puts of the layer, the
 * table and the stamp, and the signal of the layer before; the last page travels with the signal.
 */
static void signal_layer(struct prefill *p, const struct window *w)
{
    const struct stage *stage  = &p->stage;
    uint64_t            signal = ++p->layers_sent;
    size_t              last   = stage->count > 0 ? stage->count - 1 : 0;
    put_pages(p, last);
    shmem_uint64_p(link_stamp(p->link, w->number), clock_ns(), p->peer);
    shmem_fence();
    if (stage->count == 0) { /* all of the layer is resident */
        shmem_signal_set(p->link->layers_sent, signal, p->peer);
        return;
    }
    shmem_putmem_signal(stage->dest[last], stage->bytes + last * p->job->page_stride, p->job->page_bytes, p->link->layers_sent,
                        signal, SHMEM_SIGNAL_SET, p->peer);
    shmem_quiet(); /* before the stage is filled again */
    p->stage.count = 0;
}

/* The --corrupt option: spoil one byte after the right one has arrived, before the signal. */
static void spoil(struct prefill *p, const struct window *w, uint32_t layer)
{
    const struct fault *f     = &p->job->options.fault;
    uint64_t            first = window_page_number(p->job, w, 0, 0);
    uint64_t            end   = window_page_number(p->job, w, w->spans, 0);
    if (!f->on || f->request != w->index || f->layer != layer || f->page < first || f->page >= end) {
        return;
    }
    uint32_t i     = (uint32_t)(f->page / p->job->parts) - w->first;
    uint32_t part  = (uint32_t)(f->page % p->job->parts);
    uint8_t  wrong = content_byte(content_key(window_page_id(p->job, w, i, layer, part)), f->offset) ^ 0xff;
    flush(p);
    shmem_putmem(link_page(p->link, p->table[i] & TABLE_SLOT, layer, part) + f->offset, &wrong, 1, p->peer);
}

static void send_layer(struct prefill *p, const struct window *w, uint32_t layer)
{
    uint64_t put_before = p->counts->put_ns;
    uint64_t start      = clock_ns();
    if (layer == 0) {
        shmem_putmem(link_table(p->link, w->number), p->table, w->spans * sizeof *p->table, p->peer);
    }
    stage_layer(p, w, layer);
    spoil(p, w, layer);
    uint64_t staged = clock_ns();
    p->counts->fill_ns += staged - start - (p->counts->put_ns - put_before);
    signal_layer(p, w);
    p->counts->put_ns += clock_ns() - staged;
}

void prefill_send(struct prefill *p, const struct window *w)
{
    plan(p, w);
    for (uint32_t layer = 0; layer < p->job->layers; layer++) {
        send_layer(p, w, layer);
    }
}
