/* SPDX-License-Identifier: Apache-2.0
 *
 * Allocating a pair's symmetric memory. See link.h.
 */
#include "link.h"

#include "problem.h"

#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <time.h>

enum {
    ALIGN         = 4096,
    BESIDES_BYTES = 8 << 20, /* for all but the pool: tables (WINDOW_SPANS_MAX bounds them), counts, what the allocator rounds up */
};

static size_t pool_bytes(const struct job *job)
{
    return (size_t)job->slots * job->layers * job->parts * job->page_stride;
}

uint64_t link_heap_bytes(const struct options *options, const struct job *job)
{
    if (options->pool_pages == 0) {
        return options->pool_bytes + BESIDES_BYTES;
    }
    return job == NULL ? 0 : options->pool_pages * job->page_stride + BESIDES_BYTES;
}

uint64_t link_besides_bytes(void)
{
    return BESIDES_BYTES;
}

static void *allocate_pool(const struct job *job)
{
    if (job->options.pool_on_gpu) {
        return shmem_malloc_with_hints(pool_bytes(job), SHMEMX_MEM_CUDA);
    }
    return shmem_align(ALIGN, pool_bytes(job));
}

/* Why there is no pool, and what to do. Always false. */
static bool no_pool(const struct job *job)
{
    if (job->options.pool_on_gpu) {
        return problem("could not allocate a pool of %zu bytes on the GPU" WHY
                       "some PE has no symmetric GPU heap, or it is too small" FIX
                       "look at the report (POSTERN_REPORT=1), set POSTERN_CUDA_HEAP to at least %llu, or use --pool-on host",
                       pool_bytes(job), (unsigned long long)link_heap_bytes(&job->options, job));
    }
    return problem("could not allocate a pool of %zu bytes" WHY "the symmetric heap is too small" FIX
                   "unset SHMEM_SYMMETRIC_SIZE or set it to at least %llu, or use a smaller pool",
                   pool_bytes(job), (unsigned long long)link_heap_bytes(&job->options, job));
}

bool link_open(const struct job *job, struct link *link_out)
{
    struct link link = {
        .job          = job,
        .pool         = allocate_pool(job),
        .tables       = shmem_calloc((size_t)WINDOWS_IN_FLIGHT * job->window_spans, sizeof *link.tables),
        .stamps       = shmem_calloc(WINDOWS_IN_FLIGHT, sizeof *link.stamps),
        .layers_sent  = shmem_calloc(1, sizeof *link.layers_sent),
        .windows_done = shmem_calloc(1, sizeof *link.windows_done),
        .counts       = shmem_calloc(1, sizeof *link.counts),
    };
    if (link.pool == NULL || link.tables == NULL || link.stamps == NULL || link.layers_sent == NULL || link.windows_done == NULL ||
        link.counts == NULL) {
        link_close(&link);
        return no_pool(job);
    }
    if (job->options.pool_on_gpu) {
        link.copy = malloc(job->page_stride);
        if (link.copy == NULL) {
            problem("could not allocate room for a page" WHY "out of memory" FIX "use a smaller pool");
            shmem_global_exit(2); /* the others have their pool already */
        }
    }
    *link_out = link;
    return true;
}

void link_close(struct link *link)
{
    free(link->copy);
    shmem_free(link->counts);
    shmem_free(link->windows_done);
    shmem_free(link->layers_sent);
    shmem_free(link->stamps);
    shmem_free(link->tables);
    shmem_free(link->pool);
    *link = (struct link){.job = NULL};
}

const uint8_t *link_look(const struct link *link, const uint8_t *page)
{
    if (link->copy == NULL) {
        return page;
    }
    shmem_getmem(link->copy, page, link->job->page_bytes, link->job->me);
    return link->copy;
}

bool link_same_clock(const struct link *link)
{
    return shmem_ptr(link->tables, job_peer(link->job)) != NULL;
}

uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
