/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pair shares: the symmetric memory that prefill and decode meet in, and the rules of each word.
 *
 *   pool        written by prefill, read by decode. Who may touch a slot is decided by windows_done
 *   tables      the block tables of the last windows: for each span its slot, and whether it lies there already
 *   stamps      when the last put of a window's layer began
 *   layers_sent signal at decode: layers of all windows that are there, counted from the start
 *   windows_done  signal at prefill: windows that decode has finished reading. This is the credit: a slot may be written
 *               again once the window that used it last is done
 *
 * Memory is symmetric, so every PE has all of it; each uses its half.
 */
#ifndef KV_LINK_H
#define KV_LINK_H

#include "histogram.h"
#include "job.h"

enum {
    WINDOWS_IN_FLIGHT = 16, /* sent and not done, at most: so many tables there are */
};

#define TABLE_RESIDENT 0x80000000u /* in a table: the span was not sent again */
#define TABLE_SLOT     0x7fffffffu

/* What a PE counts. Times are in ns. */
struct counts {
    uint64_t windows;
    uint64_t pages_sent;
    uint64_t pages_reused;
    uint64_t blocks;
    uint64_t blocks_reused; /* all of the block was resident */
    uint64_t fill_ns;       /* prefill: making contents      */
    uint64_t put_ns;        /* prefill: in puts              */
    uint64_t credit_ns;     /* prefill: waiting for credits  */
    uint64_t arrival_ns;    /* prefill: waiting for requests */
    uint64_t signal_ns;     /* decode: waiting for layers    */
    uint64_t check_ns;      /* decode: reading pages         */
    uint64_t pages_checked;
    uint64_t pages_wrong;
    uint64_t usable[HISTOGRAM_BUCKETS]; /* decode: ns from the last put of a request to the sight of its last signal */
};

struct link {
    const struct job *job;
    uint8_t          *pool;
    uint8_t          *copy; /* of one page, where the pool is on the GPU; NULL: pages are looked at where they lie */
    uint32_t         *tables;
    uint64_t         *stamps;
    uint64_t         *layers_sent;
    uint64_t         *windows_done;
    struct counts    *counts;
};

/*
 * The heap that holds the pool to ask for, in bytes; 0: whatever the library's default is.
 *
 * It follows from the options alone, because all PEs must ask for the same, also one that could not read its trace. job is
 * NULL where even the sizes are not known.
 */
uint64_t link_heap_bytes(const struct options *options, const struct job *job);

/* The same for what is always in host memory: all but the pool. */
uint64_t link_besides_bytes(void);

/* Collective. False on all PEs after problem(). */
bool link_open(const struct job *job, struct link *link_out);

/* Collective. */
void link_close(struct link *link);

/* Whether times of this PE and of its peer can be compared: they can on one machine. */
bool link_same_clock(const struct link *link);

static inline uint8_t *link_page(const struct link *link, uint32_t slot, uint32_t layer, uint32_t part)
{
    const struct job *job  = link->job;
    size_t            page = ((size_t)layer * job->parts + part) * job->slots + slot;
    return link->pool + page * job->page_stride;
}

/* A page of this PE's pool, for reading: where it lies, or a copy that lasts until the next call. */
const uint8_t *link_look(const struct link *link, const uint8_t *page);

static inline uint32_t *link_table(const struct link *link, uint64_t window)
{
    return link->tables + window % WINDOWS_IN_FLIGHT * link->job->window_spans;
}

static inline uint64_t *link_stamp(const struct link *link, uint64_t window)
{
    return link->stamps + window % WINDOWS_IN_FLIGHT;
}

/* CLOCK_MONOTONIC in ns. */
uint64_t clock_ns(void);

#endif
