/* SPDX-License-Identifier: Apache-2.0
 *
 * A job with a unique id, as each PE sees it: one connection to the server on rank 0 (uid_server.c; on rank 0 itself, a socket pair).
 *
 * Two threads use the connection: one that is in an exchange, at start-up, and the service thread that listens for the end. Whoever finds
 * something to read reads it, without waiting and under `lock`; while an exchange is under way that is the exchange alone, so that a failure in it becomes
 * its result and does not end the process. Frames are sent under `send_lock`.
 *
 * A child of a fork has copies of the descriptors, and while one is open nobody sees that the parent is gone. So the child closes them first
 * of all.
 */
#include "runtime/bootstrap/uid.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/options.h"
#include "runtime/bootstrap/attr.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define ANSWER_NS_MAX 5000000000  /* how much later than its limit the word of rank 0 may come, that PEs are missing */
#define NOTICE_NS_MAX 2000000000  /* for a short frame to get out                                                   */
#define END_NS_MAX    5000000000  /* rank 0 ends: for its word to get out to all */
#define LEAVE_NS_MAX  60000000000 /* rank 0 waits so long for the others to come out of their last barrier         */

/* The one membership of this process. Static: the service thread may ask once more after close() and must meet valid memory. */
static struct {
    struct shmemb   head;
    pid_t           owner;
    bool            timeout_set; /* as in struct shmemi_attr */
    int64_t         timeout_ns;
    int             broken; /* a negative errno after which no exchange can work */
    pthread_mutex_t send_lock;
    bool            torn; /* a frame was sent in part: nothing can follow it */

    pthread_mutex_t  lock; /* of all that follows */
    pthread_cond_t   changed;
    int              fd, wake_fd; /* wake_fd: readable once close() has begun          */
    bool             is_open;
    int              waiters;   /* threads inside next_event: the last one closes fds */
    bool             gathering; /* an exchange is under way, and it alone reads       */
    bool             answered;  /* its answer is complete                             */
    unsigned char   *answer;
    size_t           answer_bytes;
    bool             goodbye; /* rank 0 has left in good order                      */
    bool             ended;   /* `end` and `text` are valid                         */
    bool             told;    /* somebody has been given these                      */
    size_t           head_got, body_got;
    struct uid_frame in, end;
    struct uid_text  text;
} only = {
    .fd        = -1,
    .wake_fd   = -1,
    .lock      = PTHREAD_MUTEX_INITIALIZER,
    .send_lock = PTHREAD_MUTEX_INITIALIZER,
    .changed   = PTHREAD_COND_INITIALIZER,
};

static bool is_forked_copy(void)
{
    return only.owner != getpid();
}

static void close_copies(void)
{
    if (only.fd >= 0) close(only.fd);
    if (only.wake_fd >= 0) close(only.wake_fd);
    only.fd = only.wake_fd = -1;
    shmemi_uid_server_forked();
}

/* Milliseconds for poll(). deadline_ns < 0: no limit. */
static int poll_ms(int64_t deadline_ns)
{
    if (deadline_ns < 0) return -1;
    int64_t left_ms = (deadline_ns - shmemi_now_ns() + 999999) / 1000000;
    return left_ms <= 0 ? 0 : left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

/* ---- reading ---- */

static void set_end(const struct uid_frame *frame, const struct uid_text *text)
{
    if (only.ended) return; /* the first word is the cause */
    only.ended = true;
    only.end   = *frame;
    if (text) only.text = *text;
    only.text.what[sizeof only.text.what - 1] = '\0';
    only.text.why[sizeof only.text.why - 1]   = '\0';
    only.text.fix[sizeof only.text.fix - 1]   = '\0';
}

/* The connection has ended. After a goodbye that says nothing. */
static void set_lost(void)
{
    struct uid_frame frame = {.kind = UID_FAILURE, .value = 1, .number = ECONNRESET};
    struct uid_text  text  = {
          .what = "PE 0 is gone",
          .why  = "its process, which serves the job, ended without shmem_finalize, or the connection to it broke",
          .fix  = "look at what it said last",
    };
    if (!only.goodbye) set_end(&frame, &text);
}

/* Where the body of a frame goes; NULL: this is no frame for us. */
static void *body_place(const struct uid_frame *frame, struct uid_text *text)
{
    if (frame->kind == UID_GATHERED && only.gathering && frame->bytes == only.answer_bytes) return only.answer;
    if (frame->kind == UID_FAILURE && frame->bytes == sizeof *text) return text;
    return (frame->kind == UID_END || frame->kind == UID_BYE) && frame->bytes == 0 ? (void *)text : NULL;
}

static void take_frame(const struct uid_frame *frame, const struct uid_text *text)
{
    switch (frame->kind) {
    case UID_GATHERED: only.answered = true; break;
    case UID_FAILURE: set_end(frame, text); break;
    case UID_END: set_end(frame, NULL); break;
    default: only.goodbye = true; break;
    }
}

/* Bytes into place. 1: all there; 0: more are to come; negative: the connection has ended. */
static int fill(void *place, size_t bytes, size_t *got)
{
    while (*got < bytes) {
        ssize_t more = recv(only.fd, (char *)place + *got, bytes - *got, MSG_DONTWAIT);
        if (more > 0) *got += (size_t)more;
        else if (more < 0 && errno == EINTR) continue;
        else if (more < 0 && errno == EAGAIN) return 0;
        else return -ECONNRESET;
    }
    return 1;
}

/* Under the lock: read what has come, without waiting for more. False: the connection has ended, or what comes makes no sense. */
static bool read_frames(void)
{
    static struct uid_text text; /* the body of FAILURE may come in parts */
    while (!only.answered && !only.ended) {
        int err = fill(&only.in, sizeof only.in, &only.head_got);
        if (err <= 0) return err == 0;
        void *place = body_place(&only.in, &text);
        if (!place) return false;
        err = fill(place, (size_t)only.in.bytes, &only.body_got);
        if (err <= 0) return err == 0;
        only.head_got = only.body_got = 0;
        take_frame(&only.in, &text);
    }
    return true;
}

/* ---- sending ---- */

/* Head and body, as one. 0, -ETIMEDOUT, -ECONNRESET. */
static int send_parts(struct iovec parts[2], int64_t deadline_ns)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t sent = sendmsg(only.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = only.fd, .events = POLLOUT};
            if (poll(&ready, 1, poll_ms(deadline_ns)) == 0) return -ETIMEDOUT;
        } else if (sent < 0 && errno != EINTR) {
            return -ECONNRESET;
        }
        for (int i = 0; i < 2 && sent > 0; i++) {
            size_t of_part    = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + of_part;
            parts[i].iov_len -= of_part;
            sent -= (ssize_t)of_part;
        }
    }
    return 0;
}

static int send_frame(const struct uid_frame *frame, const void *body, int64_t deadline_ns)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)frame, sizeof *frame}, {(void *)(uintptr_t)body, (size_t)frame->bytes}};
    pthread_mutex_lock(&only.send_lock);
    int err = only.torn ? -ECONNRESET : send_parts(parts, deadline_ns);
    if (err) only.torn = true;
    pthread_mutex_unlock(&only.send_lock);
    return err;
}

/* A frame without a body. That rank 0 is gone is told by next_event. */
static void send_notice(enum uid_kind kind, int value, int64_t number)
{
    struct uid_frame frame = {.kind = kind, .value = value, .number = number};
    if (send_frame(&frame, NULL, shmemi_now_ns() + NOTICE_NS_MAX) != 0) shmemi_debug("rank 0 does not hear this PE any more");
}

/* ---- exchanges ---- */

/* The exchange has failed; `end` says why, or nothing has come. */
static SHMEMI_COLD int say_failed(int err, int64_t timeout_ns)
{
    if (err == -ETIMEDOUT) {
        shmemi_error("the exchange with the other PEs has not come to its end within %g s" WHY
                     "rank 0 does not answer; it may be stopped" FIX "continue or restart the job",
                     (double)timeout_ns / 1e9);
        return err;
    }
    if (only.end.kind == UID_END) {
        shmemi_info("the job ends");
        return -ECONNRESET;
    }
    shmemi_error("%s" WHY "%s" FIX "%s", only.text.what, only.text.why, only.text.fix);
    return only.end.number > 0 && only.end.number < 4096 ? -(int)only.end.number : -ECONNRESET;
}

/* Until the answer is there. 0; -ECONNRESET: `end` says why; -ETIMEDOUT. */
static int await_answer(int64_t deadline_ns)
{
    for (;;) {
        pthread_mutex_lock(&only.lock);
        if (!read_frames()) set_lost();
        bool answered = only.answered, over = only.ended || only.goodbye;
        if (!answered && only.goodbye && !only.ended) {
            only.goodbye = false; /* good order for rank 0, but not for an exchange that it was to serve */
            set_lost();
            only.goodbye = true;
        }
        pthread_mutex_unlock(&only.lock);
        if (answered) return 0;
        if (over) return -ECONNRESET;
        struct pollfd ready = {.fd = only.fd, .events = POLLIN};
        if (poll(&ready, 1, poll_ms(deadline_ns)) == 0) return -ETIMEDOUT;
    }
}

static int exchange(const void *mine, size_t bytes, void *all_out, size_t all_bytes, int64_t timeout_ns)
{
    int64_t          deadline_ns = timeout_ns < 0 ? -1 : shmemi_now_ns() + timeout_ns + ANSWER_NS_MAX;
    struct uid_frame head        = {.kind = UID_GATHER, .bytes = bytes, .number = timeout_ns};
    pthread_mutex_lock(&only.lock);
    only.gathering    = true;
    only.answered     = false;
    only.answer       = all_out ? all_out : (unsigned char *)&head; /* of no bytes */
    only.answer_bytes = all_bytes;
    pthread_mutex_unlock(&only.lock);

    int err = send_frame(&head, mine, deadline_ns);
    if (err != -ETIMEDOUT) err = await_answer(deadline_ns); /* also after an error: why is what we read first */
    if (err) err = say_failed(err, timeout_ns);

    pthread_mutex_lock(&only.lock);
    only.gathering = only.answered = false;
    if (err) only.told = true;
    pthread_cond_broadcast(&only.changed);
    pthread_mutex_unlock(&only.lock);
    return err;
}

static int gather_uid(struct shmemb *b, const void *mine, size_t bytes, void *all_out, int64_t timeout_ns)
{
    size_t all_bytes;
    assert(b == &only.head && only.is_open);
    assert(bytes == 0 || (mine != NULL && all_out != NULL));
    if (is_forked_copy()) {
        shmemi_error("cannot exchange with the other PEs" WHY "this process is a fork of PE %d" FIX
                     "call SHMEM routines in the process that called shmemx_init_attr",
                     b->pe);
        return -EPERM;
    }
    if (only.broken) return only.broken;
    if (!shmemi_mul_size(bytes, (size_t)b->npes, &all_bytes)) return -EOVERFLOW;
    int err = exchange(mine, bytes, all_out, all_bytes, only.timeout_set ? only.timeout_ns : timeout_ns);
    if (err) only.broken = err;
    return err;
}

/* ---- joining ---- */

static int watch_forks(void)
{
    static bool watched;
    if (watched) return 0;
    if (pthread_atfork(NULL, NULL, close_copies) != 0) {
        shmemi_error("could not start" WHY "there is no memory left" FIX "raise `ulimit -v`");
        return -ENOMEM;
    }
    watched = true;
    return 0;
}

/* Rank 0 serves what its own id has opened; any other rank connects. 0 and the connection. */
static int connect_rank(const struct shmemi_attr *given, const struct uid_parsed *id, int *fd_out)
{
    int64_t limit_ns = given->timeout_set ? given->timeout_ns : shmemi_options.init_timeout_ns;
    int     listener = shmemi_uid_id_take(given->id);
    if (given->pe > 0) {
        if (listener >= 0) close(listener); /* inherited from a parent that made the id */
        return shmemi_uid_join(id, given->pe, given->npes, limit_ns < 0 ? -1 : shmemi_now_ns() + limit_ns, (double)limit_ns / 1e9,
                               fd_out);
    }
    if (listener < 0) {
        shmemi_error("rank 0 cannot start the job of this unique id" WHY
                     "this process has not made it by shmemx_get_uniqueid, or has started a job with it already" FIX
                     "let the process that is rank 0 make the id; make a new one for each job");
        return -EINVAL;
    }
    return shmemi_uid_server_start(listener, id->secret, given->npes, fd_out);
}

/* For the report: where rank 0 serves the job. An address that others can use, where there is one. */
static void describe(const struct uid_parsed *id)
{
    char text[UID_ADDRESS_TEXT_BYTES] = "?";
    for (int i = id->count - 1; i >= 0; i--) {
        const union uid_address *address = &id->address[i];
        bool                     v4      = address->any.sa_family == AF_INET;
        bool loopback = v4 ? address->v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK) : IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
        if (!loopback || text[0] == '?') shmemi_uid_id_show(address, text);
    }
    snprintf(only.head.launcher, sizeof only.head.launcher, "the program (unique id, %.22s)", text);
}

int shmemi_uid_open(const void *how, struct shmemb **b_out)
{
    const struct shmemi_attr *given = how;
    struct uid_parsed         id;
    int                       fd = -1;
    assert(!only.is_open && given->id);
    shmemi_log_set_pe(given->pe);
    int err = shmemi_uid_id_parse(given->id, &id);
    if (!err) err = watch_forks();
    if (!err) err = connect_rank(given, &id, &fd);
    if (err) return err;
    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) {
        err = errno;
        shmemi_error("could not open an eventfd: %s" FIX "raise the limit of open files (ulimit -n)", strerror(err));
        close(fd);
        if (given->pe == 0) shmemi_uid_server_stop(0);
        return -err;
    }
    only.head = (struct shmemb){.ops = &shmemb_uid_ops, .pe = given->pe, .npes = given->npes, .local_size = 1};
    describe(&id);
    pthread_mutex_lock(&only.lock);
    only.owner       = getpid();
    only.timeout_set = given->timeout_set;
    only.timeout_ns  = given->timeout_ns;
    only.broken      = 0;
    only.fd          = fd;
    only.wake_fd     = wake_fd;
    only.is_open     = true;
    only.torn = only.gathering = only.answered = only.goodbye = only.ended = only.told = false;
    only.head_got = only.body_got = 0;
    pthread_mutex_unlock(&only.lock);
    shmemi_attr_note();
    *b_out = &only.head;
    return 0;
}

/* ---- the job's end ---- */

static void leaving_uid(struct shmemb *b, uint64_t barriers, int exit_status)
{
    assert(b == &only.head);
    (void)b;
    if (!is_forked_copy()) send_notice(UID_LEAVING, exit_status & 0xff, (int64_t)(barriers & INT64_MAX));
}

/* Under the lock, once nobody is in next_event any more. */
static void close_fds(void)
{
    close(only.fd);
    close(only.wake_fd);
    only.fd = only.wake_fd = -1;
}

/* Rank 0 waits for all others, since its thread serves them until they have left. Not where the start failed: each has been told why. */
static void close_uid(struct shmemb *b, bool started)
{
    if (b == NULL || is_forked_copy()) return;
    assert(b == &only.head);
    pthread_mutex_lock(&only.lock);
    only.goodbye = true; /* rank 0 answers LEAVE by closing the connection */
    pthread_mutex_unlock(&only.lock);
    send_notice(UID_LEAVE, started ? UID_LEFT : UID_LEFT_UNSTARTED, 0);
    if (b->pe == 0) shmemi_uid_server_stop(started ? LEAVE_NS_MAX : NOTICE_NS_MAX);

    pthread_mutex_lock(&only.lock);
    only.is_open = false;
    if (only.waiters == 0) close_fds();
    else (void)!write(only.wake_fd, &(uint64_t){1}, sizeof(uint64_t));
    pthread_cond_broadcast(&only.changed);
    pthread_mutex_unlock(&only.lock);
}

static void abort_uid(struct shmemb *b, int status, const char *reason)
{
    assert(b == &only.head);
    if (is_forked_copy() || only.fd < 0) return;
    struct uid_frame frame = {.kind = UID_ABORT, .value = status, .bytes = sizeof(struct uid_text)};
    struct uid_text  text  = {.what = ""};
    snprintf(text.what, sizeof text.what, "%s", reason != NULL ? reason : "");
    if (send_frame(&frame, &text, shmemi_now_ns() + NOTICE_NS_MAX) != 0) return;
    if (b->pe == 0) shmemi_uid_server_await_told(END_NS_MAX);
}

static void give_event(struct shmemb_event *event_out)
{
    bool end   = only.end.kind == UID_END;
    only.told  = true;
    *event_out = (struct shmemb_event){.kind = end ? SHMEMB_EVENT_END : SHMEMB_EVENT_FAILURE, .status = only.end.value};
    if (end) return;
    snprintf(event_out->text, sizeof event_out->text, "%s", only.text.what);
    /* No launcher says it for all. */
    shmemi_error("%s" WHY "%s" FIX "%s", only.text.what, only.text.why, only.text.fix);
}

/* Under the lock, which is given up while this waits. */
static void wait_for_event(struct shmemb_event *event_out)
{
    bool lost = false; /* after a goodbye: nothing more comes */
    while (only.is_open) {
        if (only.gathering) {
            pthread_cond_wait(&only.changed, &only.lock);
            continue;
        }
        if (!lost && !only.ended && !read_frames()) {
            set_lost();
            lost = true;
        }
        if (only.ended && !only.told) {
            give_event(event_out);
            return;
        }
        struct pollfd fds[2] = {{.fd = only.wake_fd, .events = POLLIN}, {.fd = only.fd, .events = POLLIN}};
        bool          quiet  = lost || only.ended;
        pthread_mutex_unlock(&only.lock);
        poll(fds, quiet ? 1 : 2, -1);
        pthread_mutex_lock(&only.lock);
    }
}

static void next_event_uid(struct shmemb *b, struct shmemb_event *event_out)
{
    assert(b == &only.head);
    (void)b;
    *event_out = (struct shmemb_event){.kind = SHMEMB_EVENT_NONE};
    pthread_mutex_lock(&only.lock);
    if (only.is_open) {
        only.waiters++;
        wait_for_event(event_out);
        if (--only.waiters == 0 && !only.is_open) close_fds();
    }
    pthread_mutex_unlock(&only.lock);
}

/* Started by an open function of its own, with what the program has passed. */
static int open_nothing(struct shmemb **b_out)
{
    (void)b_out;
    return -ENOENT;
}

const struct shmemb_ops shmemb_uid_ops = {
    .name       = "uid",
    .open       = open_nothing,
    .leaving    = leaving_uid,
    .close      = close_uid,
    .allgather  = gather_uid,
    .abort      = abort_uid,
    .next_event = next_event_uid,
};
