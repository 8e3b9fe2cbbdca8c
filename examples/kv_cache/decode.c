/* SPDX-License-Identifier: Apache-2.0
 *
 * Receiving windows. See decode.h, and README.md for the protocol.
 */
#include "decode.h"

#include "problem.h"

#include <inttypes.h>
#include <shmem.h>
#include <stdatomic.h>
#include <stdio.h>

enum {
    MESSAGES_MAX = 10, /* wrong pages that are named; all are counted */
};

void decode_init(struct decode *d, const struct link *link)
{
    *d = (struct decode){
        .link       = link,
        .job        = link->job,
        .peer       = job_peer(link->job),
        .same_clock = link_same_clock(link),
        .counts     = link->counts,
    };
}

/* Wait for the signal of the next layer. */
static void wait_for_layer(struct decode *d)
{
    uint64_t start = clock_ns();
    shmem_signal_wait_until(d->link->layers_sent, SHMEM_CMP_GE, ++d->layers_seen);
    d->counts->signal_ns += clock_ns() - start;
}

/* All of the request is usable now. */
static void note_usable(struct decode *d, const struct window *w)
{
    if (d->same_clock) {
        histogram_add(d->counts->usable, clock_ns() - *link_stamp(d->link, w->number));
    }
}

static void tell_wrong(struct decode *d, const struct window *w, struct page_id id, uint64_t page, size_t offset, uint32_t entry,
                       const uint8_t *bytes)
{
    if (d->counts->pages_wrong++ >= MESSAGES_MAX) {
        return;
    }
    char message[512];
    int  count = snprintf(message, sizeof message,
                          "kv_cache: PE %d: wrong byte: request %zu, layer %" PRIu32 ", page %" PRIu64 ", offset %zu: "
                           "0x%02x instead of 0x%02x" WHY "block %" PRIu64 ", %s slot %" PRIu32 ", differs from what PE %d owns" FIX
                          "report it with the command line; --seed %" PRIu64 " makes the same run\n",
                          d->job->me, w->index, id.layer, page, offset, bytes[offset], content_byte(content_key(id), offset),
                          id.block, entry & TABLE_RESIDENT ? "resident in" : "sent to", entry & TABLE_SLOT, d->peer, id.seed);
    fwrite(message, 1, (size_t)count, stderr);
}

/* Check one page where it lies, or a copy of it. */
static void check_page(struct decode *d, const struct window *w, uint32_t i, uint32_t layer, uint32_t part)
{
    uint32_t       entry  = link_table(d->link, w->number)[i];
    struct page_id id     = window_page_id(d->job, w, i, layer, part);
    const uint8_t *bytes  = link_look(d->link, link_page(d->link, entry & TABLE_SLOT, layer, part));
    size_t         offset = content_first_wrong(bytes, d->job->page_bytes, content_key(id));
    if (offset < d->job->page_bytes) {
        tell_wrong(d, w, id, window_page_number(d->job, w, i, part), offset, entry, bytes);
    }
}

static void check_layer(struct decode *d, const struct window *w, uint32_t layer)
{
    uint64_t start = clock_ns();
    for (uint32_t i = 0; i < w->spans; i++) {
        for (uint32_t part = 0; part < d->job->parts; part++) {
            check_page(d, w, i, layer, part);
        }
    }
    d->counts->pages_checked += (uint64_t)w->spans * d->job->parts;
    d->counts->check_ns += clock_ns() - start;
}

/* A table that came with a signal is right, or the library broke its word: then nothing that follows means anything. */
static void check_table(const struct decode *d, const struct window *w)
{
    for (uint32_t i = 0; i < w->spans; i++) {
        uint32_t slot = link_table(d->link, w->number)[i] & TABLE_SLOT;
        if (slot >= d->job->slots) {
            fprintf(stderr,
                    "kv_cache: PE %d: the block table of request %zu names slot %" PRIu32 WHY "the pool has %" PRIu32
                    " slots, so the table is not what PE %d put" FIX "report it with the command line\n",
                    d->job->me, w->index, slot, d->job->slots, d->peer);
            shmem_global_exit(1);
        }
    }
}

/*
 * Give the slots of a window back.
 *
 * The C fence keeps the reads of pages before the credit: without it, a weakly ordered CPU could let prefill overwrite a
 * page that is still being read.
 */
static void give_credit(struct decode *d, const struct window *w)
{
    atomic_thread_fence(memory_order_release);
    shmem_signal_set(d->link->windows_done, w->number, d->peer);
}

void decode_receive(struct decode *d, const struct window *w)
{
    for (uint32_t layer = 0; layer < d->job->layers; layer++) {
        wait_for_layer(d);
        if (layer == 0) {
            check_table(d, w);
        }
        if (w->last && layer == d->job->layers - 1) {
            note_usable(d, w);
        }
        if (d->job->options.verify) {
            check_layer(d, w, layer);
        }
    }
    give_credit(d, w);
}
