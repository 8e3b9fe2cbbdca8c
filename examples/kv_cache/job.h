/* SPDX-License-Identifier: Apache-2.0
 *
 * The job: what is moved, cut into pages, and who moves it.
 *
 *   span    --page-tokens tokens of a request, in all layers
 *   page    what a span leaves behind in one layer: K and V together, or one of them (a part)
 *   slot    room for a span in a pool: one page in every layer and part. The pool is an array [layer][part][slot] of pages,
 *           as serving engines have it, so one block table (span -> slot) serves all layers
 *   window  consecutive spans of a request that are moved together, layer by layer. A request that takes at most a quarter
 *           of the pool is one window
 *   pair    a prefill PE and its decode PE
 *   group   --tp pairs that share a request, each with its shard of the KV heads
 */
#ifndef KV_JOB_H
#define KV_JOB_H

#include "content.h"
#include "model.h"
#include "options.h"
#include "trace.h"

struct job {
    struct options      options;
    struct model        model;
    const struct dtype *dtype;
    struct trace        trace;

    uint32_t layers;
    uint32_t parts; /* 1 joined, 2 split */
    uint32_t spans_per_block;
    size_t   page_bytes;
    size_t   page_stride; /* from one page of the pool to the next */
    uint32_t slots;
    uint32_t window_spans; /* at most */

    /* Known once the library has started. */
    int      me, pes;
    int      pairs, groups;
    int      pair, group; /* mine */
    uint32_t shard;       /* mine: pages of different shards have different contents */
};

/* From options to sizes. False after problem(). */
bool job_plan(const struct options *options, struct job *job_out);

/* Read or make the requests. False after problem(). Release with job_free. */
bool job_load(struct job *job);

/* Who does what among pes PEs. False after problem(). */
bool job_cast(struct job *job, int me, int pes);

void job_free(struct job *job);

static inline bool job_sends(const struct job *job)
{
    return job->me < job->pairs;
}

static inline bool job_receives(const struct job *job)
{
    return job->pes == 1 || job->me >= job->pairs;
}

/* The other PE of the pair. */
static inline int job_peer(const struct job *job)
{
    return job->pes == 1 ? 0 : job_sends(job) ? job->me + job->pairs : job->me - job->pairs;
}

/* A PE of a pair, of whatever group. */
static inline int job_decode_pe(const struct job *job, int pair)
{
    return job->pes == 1 ? 0 : pair + job->pairs;
}

uint32_t request_spans(const struct job *job, const struct request *request);

/* Requests that a group serves: every groups-th one. */
size_t group_requests(const struct job *job, int group);

/* ---- windows ---- */

struct window {
    uint64_t              number; /* from 1, over all requests of the group */
    size_t                index;  /* of the request in the trace            */
    const struct request *request;
    uint32_t              first; /* span                                        */
    uint32_t              spans; /* how many                                    */
    bool                  last;  /* of its request                              */
};

/* Step to the group's next window; a zeroed one steps to the first. False at the end. Both ends of a pair step alike. */
bool window_next(const struct job *job, struct window *window);

/* The page of span i of a window, in a layer and part. */
struct page_id window_page_id(const struct job *job, const struct window *window, uint32_t i, uint32_t layer, uint32_t part);

/* Its number in the layer of the request, as messages and --corrupt name it. */
static inline uint64_t window_page_number(const struct job *job, const struct window *window, uint32_t i, uint32_t part)
{
    return (uint64_t)(window->first + i) * job->parts + part;
}

#endif
