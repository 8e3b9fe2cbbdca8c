/* SPDX-License-Identifier: Apache-2.0
 *
 * kv_cache: what a disaggregated inference server does with its memory. Prefill PEs compute the KV cache of a prompt, decode
 * PEs need it; pages travel layer by layer through symmetric memory, with one signal a layer and no answer but credits.
 *
 * This file is the job from start to end. README.md explains it; job.h has the words.
 */
#include "decode.h"
#include "prefill.h"
#include "problem.h"
#include "progress.h"
#include "report.h"
#include "verdict.h"

#include <errno.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum exit_status {
    EXIT_RIGHT      = 0,
    EXIT_WRONG_BYTE = 1,
    EXIT_BAD_INPUT  = 2,
};

/* The heap must be large enough for the pool, and its size is read when the library starts. */
static void ask_for_heap(const struct options *options, const struct job *job)
{
    char     size[32];
    uint64_t bytes = link_heap_bytes(options, job);
    if (bytes > 0) {
        snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
        setenv(options->pool_on_gpu ? "POSTERN_CUDA_HEAP" : "SHMEM_SYMMETRIC_SIZE", size, 0);
    }
    if (options->pool_on_gpu) {
        snprintf(size, sizeof size, "%llu", (unsigned long long)link_besides_bytes());
        setenv("SHMEM_SYMMETRIC_SIZE", size, 0);
    }
}

/* Sleep until a request of the trace arrives. */
static void wait_for_arrival(const struct link *link, const struct window *w, uint64_t start_ns)
{
    double speed = link->job->options.speed;
    if (speed <= 0 || w->first > 0) {
        return;
    }
    uint64_t due = start_ns + (uint64_t)(w->request->arrival_ms * 1e6 / speed);
    uint64_t now = clock_ns();
    if (due > now) {
        struct timespec until = {.tv_sec = (time_t)(due / 1000000000u), .tv_nsec = (long)(due % 1000000000u)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
        }
        link->counts->arrival_ns += clock_ns() - now;
    }
}

/* Step through the windows of this PE's group. A job of one PE takes both ends of each in turn. */
static void run(const struct link *link, struct prefill *prefill)
{
    const struct job *job = link->job;
    struct decode     decode;
    struct progress   progress;
    struct window     window   = {.number = 0};
    uint64_t          start_ns = clock_ns();
    decode_init(&decode, link);
    progress_start(&progress, link);
    while (window_next(job, &window)) {
        if (prefill != NULL) {
            wait_for_arrival(link, &window, start_ns);
            prefill_send(prefill, &window);
            progress_step(&progress, link, &window);
        }
        if (job_receives(job)) {
            decode_receive(&decode, &window);
        }
    }
    progress_finish(&progress, link);
}

/* On PE 0, when all have finished. */
static bool report(const struct link *link, uint64_t elapsed_ns, FILE *json)
{
    struct report report;
    report_gather(link, elapsed_ns, &report);
    report_print(link, &report, stdout);
    return json == NULL || report_write_json(link, &report, json) ||
           problem("could not write %s: %s" WHY "the table above is all there is" FIX "free some space", link->job->options.json,
                   strerror(errno));
}

/* Wrong pages of all PEs. */
static uint64_t wrong_pages(const struct link *link)
{
    uint64_t wrong = 0;
    for (int pe = 0; pe < link->job->pes; pe++) {
        wrong += shmem_uint64_g(&link->counts->pages_wrong, pe);
    }
    return wrong;
}

/* From an open link to the result. */
static enum exit_status transfer(const struct link *link, uint64_t digest, FILE *json)
{
    const struct job *job     = link->job;
    struct prefill   *prefill = job_sends(job) ? prefill_create(link) : NULL;
    bool              ready   = prefill != NULL || !job_sends(job);
    if (!verdict(ready, digest)) {
        prefill_destroy(prefill);
        return EXIT_BAD_INPUT;
    }
    shmem_barrier_all();
    uint64_t start_ns = clock_ns();
    run(link, prefill);
    shmem_barrier_all();
    uint64_t elapsed_ns = clock_ns() - start_ns;
    prefill_destroy(prefill);

    bool             reported = job->me != 0 || report(link, elapsed_ns, json);
    enum exit_status status   = wrong_pages(link) > 0 ? EXIT_WRONG_BYTE : EXIT_RIGHT;
    return verdict(reported, digest) ? status : EXIT_BAD_INPUT;
}

/* PE 0 opens the result file before the work, not after it. */
static bool open_json(const struct job *job, FILE **file_out)
{
    const char *path = job->options.json;
    if (path == NULL || job->me != 0) {
        return true;
    }
    *file_out = fopen(path, "we");
    return *file_out != NULL ||
           problem("could not open %s: %s" WHY "--json writes the results to it" FIX "check the folder and the permissions", path,
                   strerror(errno));
}

static uint64_t job_digest(const struct job *job)
{
    uint64_t sizes = job->page_bytes * 31 + job->slots * 37 + job->layers * 41 + job->parts * 43;
    return (job->trace.digest ^ job->options.seed) + sizes * 0x9e3779b97f4a7c15u;
}

static enum exit_status run_job(struct job *job)
{
    FILE            *json = NULL;
    struct link      link;
    enum exit_status status = EXIT_BAD_INPUT;
    uint64_t         digest = job_digest(job);
    bool             good   = job_cast(job, shmem_my_pe(), shmem_n_pes()) && open_json(job, &json);
    if (verdict(good, digest)) {
        bool opened = link_open(job, &link);
        if (verdict(opened, digest)) {
            status = transfer(&link, digest, json);
        }
        if (opened) {
            link_close(&link);
        }
    }
    if (json != NULL) {
        fclose(json);
    }
    job_free(job);
    return status;
}

/* What needs no other PE: PE 0 prints it. */
static enum exit_status print_and_leave(const struct options *options)
{
    if (shmem_my_pe() == 0) {
        if (options->help) {
            fputs(options_help, stdout);
        } else {
            model_list(stdout);
        }
    }
    return EXIT_RIGHT;
}

int main(int argc, char **argv)
{
    struct options options;
    struct job     job;
    bool           good    = options_read(argc, argv, &options);
    bool           leave   = good && (options.help || options.list_models);
    bool           planned = good && !leave && job_plan(&options, &job);
    bool           loaded  = planned && job_load(&job);
    ask_for_heap(&options, planned ? &job : NULL);
    shmem_init();
    enum exit_status status = EXIT_BAD_INPUT;
    if (leave) {
        status = print_and_leave(&options);
    } else if (loaded) {
        status = run_job(&job);
    } else {
        verdict(false, 0);
    }
    shmem_finalize();
    return (int)status;
}
