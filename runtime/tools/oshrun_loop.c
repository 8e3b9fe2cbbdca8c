/* SPDX-License-Identifier: Apache-2.0
 *
 * The event loop: whatever happens arrives as a readable descriptor or a timer.
 */
#include "runtime/tools/oshrun.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVENTS_AT_ONCE     64
#define READ_BYTES_MAX     ((size_t)64 << 10) /* of one PE, before the others have their turn            */
#define DRAIN_BYTES_MAX    ((size_t)1 << 20)  /* the most that a pipe holds                              */
#define TERMINAL_RETRY_NS  500000000          /* look again whether we are in the foreground */
#define LAST_OUTPUT_NS_MAX 2000000000         /* after a failure: how long a reader that does not read may hold us */

int oshrun_loop_open(struct oshrun_job *job)
{
    sigset_t         wanted;
    static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
    sigemptyset(&wanted);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction before;
        sigaction(signals[i], NULL, &before);
        /* nohup, or a background job of a script: what was ignored stays ignored, here and in the PEs */
        if (before.sa_handler != SIG_IGN || signals[i] == SIGCHLD) sigaddset(&wanted, signals[i]);
    }
    signal(SIGCHLD, SIG_DFL); /* inherited as ignored, it would make the exit statuses vanish */
    sigset_t blocked = wanted;
    sigaddset(&blocked, SIGTTIN); /* in the background reading the terminal gives EIO, it does not stop us */
    sigaddset(&blocked, SIGTTOU);
    sigprocmask(SIG_BLOCK, &blocked, &job->signals_before);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, &job->pipe_before);

    job->epoll_fd  = epoll_create1(EPOLL_CLOEXEC);
    job->signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (job->epoll_fd < 0 || job->signal_fd < 0) {
        shmemi_error("could not start: %s" FIX "raise the limit of open files (ulimit -n)", strerror(errno));
        return OSHRUN_EXIT_FAILED;
    }
    oshrun_loop_watch(job, job->signal_fd, EPOLLIN, OSHRUN_SIGNALS, 0);
    return 0;
}

static struct epoll_event make_event(uint32_t events, enum oshrun_source source, int index)
{
    return (struct epoll_event){.events = events, .data.u64 = (uint64_t)source << 32 | (uint32_t)index};
}

void oshrun_loop_watch(struct oshrun_job *job, int fd, uint32_t events, enum oshrun_source source, int index)
{
    struct epoll_event event = make_event(events, source, index);
    epoll_ctl(job->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

void oshrun_loop_change(struct oshrun_job *job, int fd, uint32_t events, enum oshrun_source source, int index)
{
    struct epoll_event event = make_event(events, source, index);
    epoll_ctl(job->epoll_fd, EPOLL_CTL_MOD, fd, &event);
}

void oshrun_loop_unwatch(struct oshrun_job *job, int fd)
{
    epoll_ctl(job->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* ---- output -------------------------------------------------------------------------------------------------------------- */

static void resume_streams(struct oshrun_job *job, const struct oshrun_sink *sink)
{
    for (int i = 0; i < job->npes; i++) {
        struct oshrun_stream *streams[2] = {&job->pes[i].out, &job->pes[i].err};
        for (int k = 0; k < 2; k++) {
            if (!streams[k]->is_paused || streams[k]->sink != sink) continue;
            streams[k]->is_paused = false;
            if (streams[k]->fd >= 0) oshrun_loop_watch(job, streams[k]->fd, EPOLLIN, k == 0 ? OSHRUN_OUT : OSHRUN_ERR, i);
        }
    }
}

/* A full disk, say. The PEs' ends of the pipes are closed when they write next, as if a reader had gone. */
static void report_output_error(struct oshrun_job *job, struct oshrun_sink *sink)
{
    int err     = sink->error;
    sink->error = 0;
    oshrun_output_say(&job->output, "could not write the output of the PEs: %s", strerror(err));
    if (job->status == 0) job->status = OSHRUN_EXIT_FAILED;
}

/* Write what the reader takes; come back when it takes more. */
static void flush_sink(struct oshrun_job *job, struct oshrun_sink *sink)
{
    int  index = (int)(sink - job->output.sinks);
    bool done  = oshrun_output_flush(sink);
    if (!done && !sink->is_waiting) {
        sink->is_waiting = true;
        oshrun_loop_watch(job, sink->fd, EPOLLOUT, OSHRUN_SINK, index);
    } else if (done && sink->is_waiting) {
        sink->is_waiting = false;
        oshrun_loop_unwatch(job, sink->fd);
    }
    if (!oshrun_output_is_full(sink)) resume_streams(job, sink);
    if (sink->error != 0) report_output_error(job, sink);
}

static void flush_sinks(struct oshrun_job *job)
{
    if (job->output.sinks[0].used > 0) flush_sink(job, &job->output.sinks[0]);
    if (job->output.sinks[1].used > 0) flush_sink(job, &job->output.sinks[1]);
}

static void read_stream(struct oshrun_job *job, struct oshrun_stream *stream)
{
    int fd = stream->fd;
    if (fd < 0 || stream->is_paused) return;
    if (oshrun_output_is_full(stream->sink)) {
        stream->is_paused = true;
        oshrun_loop_unwatch(job, fd);
        return;
    }
    oshrun_output_read(&job->output, stream,
                       READ_BYTES_MAX); /* a closed descriptor leaves the epoll set by itself: nobody else holds it */
}

void oshrun_loop_drain(struct oshrun_job *job, struct oshrun_pe *pe)
{
    oshrun_output_read(&job->output, &pe->out, DRAIN_BYTES_MAX);
    oshrun_output_read(&job->output, &pe->err, DRAIN_BYTES_MAX);
}

/* The earliest time at which a terminal must show an unfinished line; -1: none. */
static int64_t show_partials(struct oshrun_job *job, int64_t now_ns)
{
    int64_t earliest_ns = -1;
    if (!job->output.out->is_terminal && !job->output.err->is_terminal) return -1;
    for (int i = 0; i < job->npes; i++) {
        struct oshrun_stream *streams[2] = {&job->pes[i].out, &job->pes[i].err};
        for (int k = 0; k < 2; k++) {
            int64_t at_ns = oshrun_output_show_partial(&job->output, streams[k], now_ns);
            if (at_ns >= 0 && (earliest_ns < 0 || at_ns < earliest_ns)) earliest_ns = at_ns;
        }
    }
    return earliest_ns;
}

/* ---- input from a terminal ----------------------------------------------------------------------------------------------- */

static void watch_terminal(struct oshrun_job *job, bool on)
{
    if (on == job->input_watched) return;
    job->input_watched = on;
    if (on) oshrun_loop_watch(job, STDIN_FILENO, EPOLLIN, OSHRUN_TERMINAL, 0);
    else oshrun_loop_unwatch(job, STDIN_FILENO);
}

static void close_input(struct oshrun_job *job)
{
    watch_terminal(job, false);
    close(job->input_fd);
    job->input_fd       = -1;
    job->input_used     = 0;
    job->input_again_ns = 0;
}

static void write_input(struct oshrun_job *job)
{
    ssize_t wrote = write(job->input_fd, job->input, job->input_used);
    if (wrote < 0 && errno != EAGAIN && errno != EINTR) {
        close_input(job); /* PE 0 reads no more */
        return;
    }
    if (wrote > 0) {
        job->input_used -= (size_t)wrote;
        memmove(job->input, job->input + wrote, job->input_used);
    }
    if (job->input_used > 0) {
        watch_terminal(job, false);
        if (!job->input_waits) oshrun_loop_watch(job, job->input_fd, EPOLLOUT, OSHRUN_INPUT, 0);
        job->input_waits = true;
    } else {
        if (job->input_waits) oshrun_loop_unwatch(job, job->input_fd);
        job->input_waits = false;
        watch_terminal(job, true);
    }
}

static void read_terminal(struct oshrun_job *job)
{
    ssize_t got = read(STDIN_FILENO, job->input, sizeof job->input);
    if (got < 0 && errno == EINTR) return;
    if (got < 0 && errno == EIO) { /* in the background: SIGTTIN is blocked, so that the PEs go on */
        watch_terminal(job, false);
        job->input_again_ns = shmemi_now_ns() + TERMINAL_RETRY_NS;
        return;
    }
    if (got <= 0) {
        close_input(job);
        return;
    }
    job->input_used = (size_t)got;
    write_input(job);
}

/* ---- the loop ------------------------------------------------------------------------------------------------------------ */

static void read_signals(struct oshrun_job *job)
{
    struct signalfd_siginfo info;
    while (read(job->signal_fd, &info, sizeof info) == sizeof info) {
        if (info.ssi_signo == SIGCHLD) job->look_for_ended = true;
        else oshrun_end_signal(job, (int)info.ssi_signo);
    }
}

static void handle(struct oshrun_job *job, const struct epoll_event *event)
{
    enum oshrun_source source = (enum oshrun_source)(event->data.u64 >> 32);
    int                index  = (int)(uint32_t)event->data.u64;
    struct oshrun_pe  *pe     = &job->pes[index]; /* where the source belongs to a PE */
    switch (source) {
    case OSHRUN_SIGNALS: read_signals(job); break;
    case OSHRUN_CALL:
        if (event->events & EPOLLOUT) oshrun_wire_write_call(job, pe);
        if (event->events & (EPOLLIN | EPOLLHUP | EPOLLERR)) oshrun_wire_read_call(job, pe);
        break;
    case OSHRUN_NOTICE: oshrun_wire_read_notices(job, pe); break;
    case OSHRUN_OUT: read_stream(job, &pe->out); break;
    case OSHRUN_ERR: read_stream(job, &pe->err); break;
    case OSHRUN_MEMBER: oshrun_end_member_lost(job, pe); break;
    case OSHRUN_SINK: flush_sink(job, &job->output.sinks[index]); break;
    case OSHRUN_TERMINAL: read_terminal(job); break;
    case OSHRUN_INPUT: write_input(job); break;
    }
}

static int wait_ms(const struct oshrun_job *job, int64_t partial_ns, int64_t now_ns)
{
    int64_t at_ns = oshrun_end_next_timer(job);
    if (partial_ns >= 0 && (at_ns < 0 || partial_ns < at_ns)) at_ns = partial_ns;
    if (job->input_again_ns > 0 && (at_ns < 0 || job->input_again_ns < at_ns)) at_ns = job->input_again_ns;
    if (at_ns < 0) return -1;
    if (at_ns <= now_ns) return 0;
    int64_t ms = (at_ns - now_ns + 999999) / 1000000;
    return ms > 3600000 ? 3600000 : (int)ms;
}

/* One round: wait for something, handle all of it. limit_ms as for epoll_wait. */
static void run_once(struct oshrun_job *job, int limit_ms)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int                count = epoll_wait(job->epoll_fd, events, EVENTS_AT_ONCE, limit_ms);
    for (int i = 0; i < count; i++) handle(job, &events[i]);
    if (job->look_for_ended) {
        job->look_for_ended = false;
        oshrun_end_reap(job); /* after the sockets: what a PE said before it ended is known */
    }
    oshrun_wire_check_finalize(job);
    flush_sinks(job);
}

/* All PEs have ended: pass on what is still in the pipes, and wait for the readers of our output. */
static void run_out(struct oshrun_job *job)
{
    int64_t until_ns = shmemi_now_ns() + LAST_OUTPUT_NS_MAX;
    if (!job->ending) oshrun_guard_dismiss(job); /* after a failure it watches until what the PEs have left is gone too */
    for (int i = 0; i < job->npes; i++) {
        struct oshrun_stream *streams[2] = {&job->pes[i].out, &job->pes[i].err};
        for (int k = 0; k < 2; k++) {
            if (streams[k]->fd < 0) continue;
            /* A process that the PE left behind may hold the pipe and go on writing: take what is there now, no more. */
            oshrun_output_read(&job->output, streams[k], DRAIN_BYTES_MAX);
            oshrun_output_finish(&job->output, streams[k]);
        }
    }
    oshrun_end_tell_rest(job);
    flush_sinks(job);
    while ((job->output.sinks[0].used > 0 || job->output.sinks[1].used > 0) && !job->output_given_up) {
        if (job->ending && shmemi_now_ns() >= until_ns) return;
        run_once(job, job->ending ? 100 : -1);
    }
}

void oshrun_loop_run(struct oshrun_job *job)
{
    if (job->input_fd >= 0) watch_terminal(job, true);
    while (job->running > 0) {
        int64_t now_ns     = shmemi_now_ns();
        int64_t partial_ns = show_partials(job, now_ns);
        oshrun_end_timers(job, now_ns);
        if (job->input_again_ns > 0 && now_ns >= job->input_again_ns && job->input_fd >= 0) {
            job->input_again_ns = 0;
            watch_terminal(job, true);
        }
        flush_sinks(job);
        run_once(job, wait_ms(job, partial_ns, now_ns));
    }
    run_out(job);
}
