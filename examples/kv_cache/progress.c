/* SPDX-License-Identifier: Apache-2.0
 *
 * Drawing the progress bar. See progress.h.
 */
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BAR_CELLS = 30,
};

#define REDRAW_NS 200000000u  /* on a terminal   */
#define LINE_NS   2000000000u /* a line each else */

void progress_start(struct progress *progress, const struct link *link)
{
    const struct job *job = link->job;
    *progress             = (struct progress){
                    .on           = job->options.progress && job->me == 0,
                    .redraw       = isatty(STDERR_FILENO) == 1,
                    .start_ns     = clock_ns(),
                    .requests_all = group_requests(job, job->group),
    };
    if (progress->on) {
        for (size_t i = (size_t)job->group; i < job->trace.count; i += (size_t)job->groups) {
            progress->spans_all += request_spans(job, &job->trace.requests[i]);
        }
    }
}

static void draw(const struct progress *progress, const struct link *link, uint64_t now)
{
    double share   = progress->spans_all == 0 ? 1 : (double)progress->spans / (double)progress->spans_all;
    double seconds = (double)(now - progress->start_ns) * 1e-9;
    double gb      = (double)link->counts->pages_sent * (double)link->job->page_bytes * 1e-9;
    int    cells   = (int)(share * BAR_CELLS);
    char   bar[BAR_CELLS + 1];
    memset(bar, '.', BAR_CELLS);
    memset(bar, '#', (size_t)cells);
    bar[BAR_CELLS] = '\0';
    char line[256];
    int  bytes = snprintf(line, sizeof line, "%s[%s] %3.0f %%  %zu of %zu requests  %.1f GB  %.2f GB/s  %.0f s left %s",
                         progress->redraw ? "\r" : "", bar, 100 * share, progress->requests, progress->requests_all, gb,
                         seconds > 0 ? gb / seconds : 0, share > 0 ? seconds / share - seconds : 0, progress->redraw ? "" : "\n");
    fwrite(line, 1, (size_t)bytes, stderr);
    fflush(stderr);
}

void progress_step(struct progress *progress, const struct link *link, const struct window *window)
{
    if (!progress->on) {
        return;
    }
    progress->spans += window->spans;
    progress->requests += window->last;
    uint64_t now = clock_ns();
    if (now >= progress->next_ns) {
        progress->next_ns = now + (progress->redraw ? REDRAW_NS : LINE_NS);
        draw(progress, link, now);
    }
}

void progress_finish(struct progress *progress, const struct link *link)
{
    if (progress->on) {
        draw(progress, link, clock_ns());
        fputs(progress->redraw ? "\n" : "", stderr);
    }
}
