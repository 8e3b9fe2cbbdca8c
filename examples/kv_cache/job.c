/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes, roles and windows. See job.h.
 */
#include "job.h"

#include "problem.h"

#include <string.h>

enum {
    PAGE_ALIGN       = 64, /* a cache line */
    WINDOWS_PER_POOL = 4,
    WINDOW_SPANS_MAX = 16384,
    SLOTS_MAX        = 1 << 30,
};

static bool plan_model(struct job *job)
{
    const struct options *o = &job->options;
    if (o->config != NULL ? !model_read(o->config, &job->model) : !model_find(o->model, &job->model)) {
        return false;
    }
    job->dtype = o->dtype == NULL ? job->model.dtype : model_dtype(o->dtype);
    if (job->dtype == NULL) {
        return false;
    }
    if (o->layers > job->model.layers) {
        return problem("cannot use --layers %d" WHY "%s has %d layers" FIX "give at most that many, or leave it out", o->layers,
                       job->model.name, job->model.layers);
    }
    job->layers = (uint32_t)(o->layers > 0 ? o->layers : job->model.layers);
    return true;
}

/* The model as one pair sees it: with its shard of the heads. A latent cannot be divided: each pair carries all of it. */
static bool plan_shard(const struct job *job, struct model *shard_out)
{
    int          tp    = job->options.tp;
    struct model shard = job->model;
    if (shard.latent == 0) {
        if (shard.kv_heads % tp != 0 && tp % shard.kv_heads != 0) {
            return problem("cannot use --tp %d" WHY "%s has %d KV heads, which cannot be shared out evenly" FIX
                           "use a divisor or a multiple of %d",
                           tp, shard.name, shard.kv_heads, shard.kv_heads);
        }
        shard.kv_heads = tp < shard.kv_heads ? shard.kv_heads / tp : 1;
    }
    *shard_out = shard;
    return true;
}

static bool plan_pages(struct job *job)
{
    struct model shard;
    if (!plan_shard(job, &shard)) {
        return false;
    }
    job->parts           = job->options.split && shard.latent == 0 ? 2 : 1; /* a latent is one vector: nothing to split */
    job->spans_per_block = (uint32_t)(BLOCK_TOKENS / job->options.page_tokens);
    job->page_bytes      = model_token_bytes(&shard, job->dtype) * (size_t)job->options.page_tokens / job->parts;
    job->page_stride     = (job->page_bytes + PAGE_ALIGN - 1) / PAGE_ALIGN * PAGE_ALIGN;
    return true;
}

static bool plan_pool(struct job *job)
{
    const struct options *o              = &job->options;
    uint64_t              pages_per_slot = (uint64_t)job->layers * job->parts;
    uint64_t              pages          = o->pool_pages > 0 ? o->pool_pages : o->pool_bytes / job->page_stride;
    if (pages < pages_per_slot) {
        return problem("cannot use a pool of %llu pages" WHY "a span of %d tokens has %llu pages of %zu bytes (%u layers), and one "
                       "must fit" FIX "use --pool-pages %llu (--pool-bytes %llu) or more, fewer --layers, or fewer --page-tokens",
                       (unsigned long long)pages, o->page_tokens, (unsigned long long)pages_per_slot, job->page_bytes, job->layers,
                       (unsigned long long)pages_per_slot, (unsigned long long)(pages_per_slot * job->page_stride));
    }
    uint64_t slots    = pages / pages_per_slot;
    job->slots        = (uint32_t)(slots < SLOTS_MAX ? slots : SLOTS_MAX);
    job->window_spans = job->slots / WINDOWS_PER_POOL;
    job->window_spans = job->window_spans < 1 ? 1 : job->window_spans > WINDOW_SPANS_MAX ? WINDOW_SPANS_MAX : job->window_spans;
    return true;
}

static bool check_fault(const struct job *job)
{
    const struct fault *f = &job->options.fault;
    if (!f->on) {
        return true;
    }
    bool there = f->request < job->trace.count && f->layer < job->layers && f->offset < job->page_bytes &&
                 f->page < (uint64_t)request_spans(job, &job->trace.requests[f->request]) * job->parts;
    return there || problem("cannot spoil request %llu, layer %llu, page %llu, offset %llu" WHY "there is no such byte" FIX
                            "count from 0; a page has %zu bytes",
                            (unsigned long long)f->request, (unsigned long long)f->layer, (unsigned long long)f->page,
                            (unsigned long long)f->offset, job->page_bytes);
}

bool job_plan(const struct options *options, struct job *job_out)
{
    struct job job = {.options = *options};
    if (!plan_model(&job) || !plan_pages(&job) || !plan_pool(&job)) {
        return false;
    }
    *job_out = job;
    return true;
}

bool job_load(struct job *job)
{
    const struct options *o = &job->options;
    bool                  loaded =
        o->trace != NULL ? trace_read(o->trace, o->requests, &job->trace) : trace_make(o->requests, o->tokens, &job->trace);
    if (loaded && !check_fault(job)) {
        job_free(job);
        loaded = false;
    }
    return loaded;
}

bool job_cast(struct job *job, int me, int pes)
{
    int tp    = job->options.tp;
    int pairs = pes == 1 ? 1 : pes / 2;
    if (pes > 1 && pes % 2 != 0) {
        return problem("cannot run on %d PEs" WHY "each prefill PE needs a decode PE" FIX "start an even number of PEs, or one",
                       pes);
    }
    if (pairs % tp != 0) {
        return problem("cannot use --tp %d on %d PEs" WHY "%d pairs do not make whole groups of %d" FIX
                       "start a multiple of %d PEs",
                       tp, pes, pairs, tp, 2 * tp);
    }
    job->me     = me;
    job->pes    = pes;
    job->pairs  = pairs;
    job->groups = pairs / tp;
    job->pair   = me % pairs;
    job->group  = job->pair / tp;

    /* Where there are more pairs than heads, several carry the same head and so the same bytes. */
    int heads  = job->model.latent > 0 ? 1 : job->model.kv_heads;
    int shards = tp < heads ? tp : heads;
    job->shard = (uint32_t)(job->pair % tp / (tp / shards));
    return true;
}

void job_free(struct job *job)
{
    trace_free(&job->trace);
}

uint32_t request_spans(const struct job *job, const struct request *request)
{
    uint32_t page_tokens = (uint32_t)job->options.page_tokens;
    return (request->tokens + page_tokens - 1) / page_tokens;
}

size_t group_requests(const struct job *job, int group)
{
    size_t groups = (size_t)job->groups;
    return (job->trace.count + groups - 1 - (size_t)group) / groups;
}

bool window_next(const struct job *job, struct window *window)
{
    struct window next = {.number = window->number + 1, .index = window->index, .first = window->first + window->spans};
    if (window->number == 0) {
        next.index = (size_t)job->group;
    } else if (window->last) {
        next.index += (size_t)job->groups;
        next.first = 0;
    }
    if (next.index >= job->trace.count) {
        return false;
    }
    next.request  = &job->trace.requests[next.index];
    uint32_t left = request_spans(job, next.request) - next.first;
    next.spans    = left < job->window_spans ? left : job->window_spans;
    next.last     = next.spans == left;
    *window       = next;
    return true;
}

struct page_id window_page_id(const struct job *job, const struct window *window, uint32_t i, uint32_t layer, uint32_t part)
{
    uint32_t span = window->first + i;
    return (struct page_id){
        .block = window->request->blocks[span / job->spans_per_block],
        .layer = layer,
        .page  = span % job->spans_per_block * job->parts + part,
        .shard = job->shard,
        .seed  = job->options.seed,
    };
}
