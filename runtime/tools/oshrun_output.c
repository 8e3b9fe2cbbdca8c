/* SPDX-License-Identifier: Apache-2.0
 *
 * Output of the PEs, passed on in whole lines, so that lines of different PEs are never torn.
 *
 * A stream collects bytes until it has a line; whole lines go to the queue of its sink; the queue is written as fast as its
 * reader takes it, and never blocks oshrun. A full queue stops the reading of the PEs, so a slow reader slows them down, as it would without oshrun.
 */
#include "runtime/tools/oshrun.h"

#include "runtime/base/num.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES      65536
#define LINE_BYTES_MAX  ((size_t)4 << 20)   /* a longer line is passed on in pieces                    */
#define QUEUE_BYTES_MAX ((size_t)256 << 10) /* from here on the PEs are not read                       */
#define PARTIAL_NS      100000000           /* a terminal shows an unfinished line after this long      */

static void open_sink(struct oshrun_sink *sink, int fd)
{
    struct stat file  = {0};
    bool        known = fstat(fd, &file) == 0;
    *sink             = (struct oshrun_sink){
                    .fd          = fd,
                    .is_terminal = known && S_ISCHR(file.st_mode) && isatty(fd),
                    .is_limited  = !known || S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode),
    };
}

void oshrun_output_open(struct oshrun_output *output, bool tag)
{
    struct stat out, err;
    open_sink(&output->sinks[0], STDOUT_FILENO);
    open_sink(&output->sinks[1], STDERR_FILENO);
    bool same =
        fstat(STDOUT_FILENO, &out) == 0 && fstat(STDERR_FILENO, &err) == 0 && out.st_dev == err.st_dev && out.st_ino == err.st_ino;
    output->out = &output->sinks[0];
    output->err = same ? output->out : &output->sinks[1]; /* one queue, so that lines of the two are not torn either */
    output->tag = tag;
}

/* ---- sinks --------------------------------------------------------------------------------------------------------------- */

/* Room for `more` bytes at the end. Without memory there is nothing better to do than to end. */
static void reserve(char **data, size_t used, size_t *room, size_t more)
{
    if (used + more <= *room) return;
    size_t wanted = *room ? *room : 4096;
    while (wanted < used + more) wanted *= 2;
    char *grown = realloc(*data, wanted);
    if (grown == NULL) {
        static const char text[] = "postern: oshrun could not get memory for output of the PEs\n";
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        _exit(OSHRUN_EXIT_FAILED); /* the guard ends the PEs */
    }
    *data = grown;
    *room = wanted;
}

static void append(struct oshrun_sink *sink, const char *data, size_t bytes)
{
    if (sink->is_broken || bytes == 0) return;
    if (sink->start > 0 && sink->start + sink->used + bytes > sink->room) {
        memmove(sink->queue, sink->queue + sink->start, sink->used);
        sink->start = 0;
    }
    reserve(&sink->queue, sink->start + sink->used, &sink->room, bytes);
    memcpy(sink->queue + sink->start + sink->used, data, bytes);
    sink->used += bytes;
}

bool oshrun_output_is_full(const struct oshrun_sink *sink)
{
    return sink->used >= QUEUE_BYTES_MAX;
}

static void break_sink(struct oshrun_sink *sink)
{
    sink->is_broken = true;
    sink->used      = 0;
}

bool oshrun_output_flush(struct oshrun_sink *sink)
{
    while (sink->used > 0) {
        /* The descriptor is shared with others, so it stays blocking: a pipe that polls as writable takes PIPE_BUF at once. */
        struct pollfd fd = {.fd = sink->fd, .events = POLLOUT};
        if (poll(&fd, 1, 0) <= 0) return false;
        size_t  bytes = sink->is_limited && sink->used > PIPE_BUF ? PIPE_BUF : sink->used;
        ssize_t wrote = write(sink->fd, sink->queue + sink->start, bytes);
        if (wrote < 0 && (errno == EINTR || errno == EAGAIN)) {
            if (errno == EAGAIN) return false;
            continue;
        }
        if (wrote <= 0) {
            sink->error = wrote < 0 && errno != EPIPE ? errno : 0; /* a reader that went away knows why */
            break_sink(sink);
            return true;
        }
        sink->start += (size_t)wrote;
        sink->used -= (size_t)wrote;
    }
    sink->start = 0;
    return true;
}

void oshrun_output_say(struct oshrun_output *output, const char *format, ...)
{
    char    text[2 * LAUNCH_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    int bytes = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (bytes < 0) return;
    if (output->err->open_line != NULL) append(output->err, "\n", 1);
    output->err->open_line = NULL;
    append(output->err, "postern: ", 9);
    append(output->err, text, strlen(text));
    append(output->err, "\n", 1);
    oshrun_output_flush(output->err);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------- */

/* Pass on the first `bytes` bytes of the stream: whole lines, except perhaps the last. */
static void pass_on(struct oshrun_output *output, struct oshrun_stream *stream, size_t bytes)
{
    struct oshrun_sink *sink = stream->sink;
    const char         *at = stream->data, *end = at + bytes;
    if (bytes == 0) return;

    if (sink->open_line != NULL && sink->open_line != stream) {
        append(sink, "\n", 1);
        sink->open_line->in_line = false;
    }
    if (!output->tag) {
        append(sink, at, bytes);
    } else {
        while (at < end) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            const char *next    = newline != NULL ? newline + 1 : end;
            char        tag[24];
            if (at != stream->data || !stream->in_line) append(sink, tag, (size_t)snprintf(tag, sizeof tag, "[%d] ", stream->pe));
            append(sink, at, (size_t)(next - at));
            at = next;
        }
    }
    stream->in_line = end[-1] != '\n';
    sink->open_line = stream->in_line ? stream : NULL;
    stream->used -= bytes;
    memmove(stream->data, end, stream->used);
}

bool oshrun_output_read(struct oshrun_output *output, struct oshrun_stream *stream, size_t bytes_max)
{
    if (stream->fd < 0) return false;
    for (size_t taken = 0; taken < bytes_max;) {
        reserve(&stream->data, stream->used, &stream->room, stream->used > 0 || stream->room > 0 ? READ_BYTES : 4096);
        size_t  room = stream->room - stream->used;
        ssize_t got  = read(stream->fd, stream->data + stream->used, room);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return true;
        if (got <= 0 || stream->sink->is_broken) {
            oshrun_output_finish(output, stream); /* closing our end tells the PE that its reader is gone */
            return false;
        }
        const char *new_bytes = stream->data + stream->used;
        const char *newline   = memrchr(new_bytes, '\n', (size_t)got);
        if (stream->used == 0 || newline != NULL) stream->partial_ns = shmemi_now_ns();
        stream->used += (size_t)got;
        taken += (size_t)got;
        if (newline != NULL) pass_on(output, stream, (size_t)(newline + 1 - stream->data));
        else if (stream->used >= LINE_BYTES_MAX) pass_on(output, stream, stream->used);
        if ((size_t)got < room) return true; /* the pipe is empty, or its end will be told next time */
    }
    return true;
}

void oshrun_output_finish(struct oshrun_output *output, struct oshrun_stream *stream)
{
    if (stream->fd < 0) return;
    pass_on(output, stream, stream->used);
    close(stream->fd);
    free(stream->data);
    stream->fd   = -1;
    stream->data = NULL;
    stream->room = 0;
}

int64_t oshrun_output_show_partial(struct oshrun_output *output, struct oshrun_stream *stream, int64_t now_ns)
{
    if (stream->used == 0 || !stream->sink->is_terminal) return -1;
    if (now_ns < stream->partial_ns + PARTIAL_NS) return stream->partial_ns + PARTIAL_NS;
    pass_on(output, stream, stream->used);
    return -1;
}
