/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE that oshrun started on this machine. runtime/base/launch_wire.h tells the two sockets and what travels on them.
 *
 * The descriptors live as long as the process: shmem_init after the last shmem_finalize joins the same job again. After a
 * fork the child holds copies of them; everything here looks at the process id first, so that a child cannot speak for its PE.
 */
#include "runtime/bootstrap/bootstrap.h"

#include "runtime/base/launch_wire.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ANSWER_NS_MAX 2000000000 /* how long oshrun may take to say who is missing */

/* The one membership of this process. Static: the service thread may ask once more after close() and must meet valid memory. */
struct local {
    struct shmemb   head;
    int             call_fd, notice_fd; /* -1: this process has not been a PE of oshrun        */
    pid_t           owner;              /* the process that took the descriptors              */
    int             broken;             /* a negative errno after which no exchange can work  */
    pthread_mutex_t lock;               /* of the fields below                                */
    bool            is_open;
    bool            is_leaving;    /* in the barrier of its last finalize, or past it */
    bool            launcher_gone; /* told once */
    int             waiters;       /* threads inside next_event                              */
    int             wake_fd;       /* readable once close() has begun                        */
};
static struct local only = {
    .call_fd   = -1,
    .notice_fd = -1,
    .wake_fd   = -1,
    .lock      = PTHREAD_MUTEX_INITIALIZER,
};

static bool is_forked_copy(void)
{
    return only.owner != getpid();
}

/* ---- joining ------------------------------------------------------------------------------------------------------------- */

static bool is_socket(int fd, unsigned long inode, int type)
{
    struct stat found;
    int         found_type = 0;
    socklen_t   bytes      = sizeof found_type;
    return fstat(fd, &found) == 0 && S_ISSOCK(found.st_mode) && found.st_ino == inode &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &found_type, &bytes) == 0 && found_type == type;
}

/* Read oshrun's variable into `only`. 0, -ENOENT where there is none, another negative errno after an error message. */
static int take_descriptors(void)
{
    const char *text = getenv(LAUNCH_VARIABLE);
    if (text == NULL || *text == '\0') return -ENOENT;

    int           version = 0, call_fd, notice_fd, pe, npes, local_rank, local_size;
    unsigned long call_inode, notice_inode;
    int fields = sscanf(text, LAUNCH_FORMAT, &version, &call_fd, &notice_fd, &call_inode, &notice_inode, &pe, &npes, &local_rank,
                        &local_size);
    if (fields >= 1 && version != LAUNCH_VERSION) {
        shmemi_error("cannot join the job of oshrun" WHY "oshrun speaks version %d of its protocol, this library version %d" FIX
                     "use oshrun and libpostern of one installation",
                     version, LAUNCH_VERSION);
        return -EPROTO;
    }
    if (fields != LAUNCH_FIELDS || npes < 1 || npes > LAUNCH_NPES_MAX || pe < 0 || pe >= npes || local_size < 1 || local_rank < 0 ||
        local_rank >= local_size) {
        shmemi_error("cannot join the job of oshrun" WHY LAUNCH_VARIABLE "=%s makes no sense; only oshrun may set it" FIX
                     "unset it and start the program with \"oshrun -n N program\"",
                     text);
        return -EPROTO;
    }
    if (!is_socket(call_fd, call_inode, SOCK_STREAM) || !is_socket(notice_fd, notice_inode, SOCK_SEQPACKET)) {
        shmemi_error("cannot join the job of oshrun as PE %d of %d" WHY
                     "the descriptors %d and %d that oshrun opened for this PE are closed or something else: a program between"
                     " oshrun and this one closes them, or " LAUNCH_VARIABLE " was left over from an earlier job" FIX
                     "let them be inherited (Python: subprocess.run(..., close_fds=False)); without oshrun, unset " LAUNCH_VARIABLE,
                     pe, npes, call_fd, notice_fd);
        return -EBADF;
    }

    /* What this process starts is no PE: it gets neither the descriptors nor the variable. */
    fcntl(call_fd, F_SETFD, FD_CLOEXEC);
    fcntl(notice_fd, F_SETFD, FD_CLOEXEC);
    unsetenv(LAUNCH_VARIABLE);

    only.head = (struct shmemb){
        .ops = &shmemb_local_ops, .pe = pe, .npes = npes, .local_rank = local_rank, .local_size = local_size, .launcher = "oshrun"};
    only.call_fd   = call_fd;
    only.notice_fd = notice_fd;
    only.owner     = getpid();
    return 0;
}

/* A message on the notice socket is whole or not sent at all, so threads need no lock. False: oshrun is gone. */
static bool send_notice(enum launch_notice_kind kind, int status, const char *text)
{
    struct launch_notice notice = {.kind = kind, .status = status};
    snprintf(notice.text, sizeof notice.text, "%s", text != NULL ? text : "");
    size_t  bytes = LAUNCH_NOTICE_HEAD + strlen(notice.text) + 1;
    ssize_t sent;
    do sent = send(only.notice_fd, &notice, bytes, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)bytes;
}

static int report_launcher_gone(void)
{
    shmemi_error("could not go on: oshrun is gone" WHY "it was killed, or it crashed" FIX "start the job again");
    return -ECONNRESET;
}

static int open_local(struct shmemb **b_out)
{
    assert(!only.is_open);
    if (only.notice_fd < 0) {
        int err = take_descriptors();
        if (err) return err;
    } else if (is_forked_copy()) {
        shmemi_error("cannot join the job as PE %d" WHY "this process is a fork of PE %d, which is process %ld" FIX
                     "call shmem_init in the process that oshrun started, or let the child exec another program",
                     only.head.pe, only.head.pe, (long)only.owner);
        return -EPERM;
    }

    int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_fd < 0) {
        int err = errno;
        shmemi_error("could not open an eventfd: %s" FIX "raise the limit of open files (ulimit -n)", strerror(err));
        return -err;
    }
    if (!send_notice(LAUNCH_HELLO, 0, NULL)) {
        close(wake_fd);
        return report_launcher_gone();
    }
    pthread_mutex_lock(&only.lock);
    only.wake_fd    = wake_fd;
    only.is_open    = true;
    only.is_leaving = false;
    pthread_mutex_unlock(&only.lock);
    *b_out = &only.head;
    return 0;
}

static void leaving_local(struct shmemb *b, uint64_t barriers, int exit_status)
{
    assert(b == &only.head);
    (void)b;
    if (is_forked_copy()) return;
    only.is_leaving = true;
    send_notice(LAUNCH_LEAVING, (int)(barriers % LAUNCH_BARRIERS_MAX << 8) | (exit_status & 0xff),
                NULL); /* that oshrun is gone is told by next_event */
}

/* Closes the eventfd, or lets the thread do so that is in poll with it: waiting for that thread here would cost a switch to it and back. */
static void close_local(struct shmemb *b, bool started)
{
    if (b == NULL || is_forked_copy()) return;
    assert(b == &only.head);

    pthread_mutex_lock(&only.lock);
    if (only.is_open) {
        only.is_open = false;
        if (only.waiters == 0) close(only.wake_fd);
        else (void)!write(only.wake_fd, &(uint64_t){1}, sizeof(uint64_t)); /* the counter was 0, so there is room */
        send_notice(LAUNCH_LEAVE, !started ? LAUNCH_LEFT_UNSTARTED : only.is_leaving ? LAUNCH_LEFT_FINALIZED : LAUNCH_LEFT, NULL);
    }
    pthread_mutex_unlock(&only.lock);
}

/* ---- exchanges ----------------------------------------------------------------------------------------------------------- */

/* 0, -ETIMEDOUT, -ECONNRESET. deadline_ns < 0: none. */
static int wait_ready(short events, int64_t deadline_ns)
{
    for (;;) {
        struct timespec left, *limit = NULL;
        if (deadline_ns >= 0) {
            int64_t left_ns = deadline_ns - shmemi_now_ns();
            if (left_ns < 0) left_ns = 0;
            left  = (struct timespec){.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
            limit = &left;
        }
        struct pollfd fd    = {.fd = only.call_fd, .events = events};
        int           ready = ppoll(&fd, 1, limit, NULL);
        if (ready > 0) return 0; /* an error shows at the send or recv that follows */
        if (ready == 0) return -ETIMEDOUT;
        if (errno != EINTR) return -ECONNRESET;
    }
}

/* Head and bytes in one call, so that oshrun wakes once for them. */
static int send_request(const struct launch_call *head, const void *data, int64_t deadline_ns)
{
    struct iovec  parts[2] = {{(void *)(uintptr_t)head, sizeof *head}, {(void *)(uintptr_t)data, head->bytes}};
    struct msghdr message  = {.msg_iov = parts, .msg_iovlen = 2};
    while (parts[0].iov_len + parts[1].iov_len > 0) {
        ssize_t sent = sendmsg(only.call_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            for (int i = 0; i < 2; i++) {
                size_t of_part = (size_t)sent < parts[i].iov_len ? (size_t)sent : parts[i].iov_len;
                if (of_part == 0) continue; /* a barrier's data is NULL */
                parts[i].iov_base = (char *)parts[i].iov_base + of_part;
                parts[i].iov_len -= of_part;
                sent -= (ssize_t)of_part;
            }
        } else if (errno == EAGAIN) {
            int err = wait_ready(POLLOUT, deadline_ns);
            if (err) return err;
        } else if (errno != EINTR) {
            return -ECONNRESET;
        }
    }
    return 0;
}

static int recv_all(void *data, size_t bytes, int64_t deadline_ns)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t got = recv(only.call_fd, at, bytes, MSG_DONTWAIT);
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            int err = wait_ready(POLLIN, deadline_ns);
            if (err) return err;
        } else if (got == 0 || errno != EINTR) {
            return -ECONNRESET;
        }
    }
    return 0;
}

/* The limit has passed: learn from oshrun who is missing, and say so. *head_out holds the answer's head; kind 0: no answer. */
static int ask_who_is_missing(struct launch_call *head_out)
{
    int64_t            until_ns = shmemi_now_ns() + ANSWER_NS_MAX;
    struct launch_call ask      = {.kind = LAUNCH_ASK};
    int                err      = send_request(&ask, NULL, until_ns);
    if (!err) err = recv_all(head_out, sizeof *head_out, until_ns);
    if (err) *head_out = (struct launch_call){.kind = 0};
    return err;
}

/* Read a MISSING answer and print it, if this PE was the first to ask. */
static int report_missing(const struct launch_call *head, int64_t timeout_ns)
{
    char   text[2 * LAUNCH_TEXT_BYTES];
    double limit_s = (double)timeout_ns / 1e9;
    if (head->kind != LAUNCH_MISSING || head->bytes == 0 || head->bytes > sizeof text ||
        recv_all(text, head->bytes, shmemi_now_ns() + ANSWER_NS_MAX) != 0) {
        shmemi_error("the exchange with the other PEs has not come to its end within %g s" WHY
                     "oshrun does not answer; it may be stopped" FIX "continue or restart the job",
                     limit_s);
        return -ETIMEDOUT;
    }
    text[head->bytes - 1] = '\0';
    const char *who       = text;
    const char *why       = strlen(text) + 1 < head->bytes ? text + strlen(text) + 1 : "";
    if (head->first) {
        shmemi_error("%s not arrived within %g s" WHY "%s" FIX
                     "see what holds them up; POSTERN_INIT_TIMEOUT sets the limit (\"none\" waits for ever)",
                     who, limit_s, why);
    } else {
        shmemi_info("%s not arrived within %g s", who, limit_s);
    }
    return -ETIMEDOUT;
}

/* One request and its answer. all_bytes is what the answer must hold. */
static int exchange(const void *mine, size_t bytes, void *all_out, size_t all_bytes, int64_t timeout_ns)
{
    int64_t            deadline_ns = timeout_ns < 0 ? -1 : shmemi_now_ns() + timeout_ns;
    struct launch_call head        = {.kind = LAUNCH_GATHER, .bytes = bytes};
    int                err         = send_request(&head, mine, deadline_ns);
    if (!err) err = recv_all(&head, sizeof head, deadline_ns);
    if (err == -ETIMEDOUT) {
        err = ask_who_is_missing(&head);
        if (err == -ECONNRESET) return report_launcher_gone();
        if (head.kind == 0 || head.kind == LAUNCH_MISSING) return report_missing(&head, timeout_ns);
        /* else the answer to GATHER was on its way, and ASK will get none */
        deadline_ns = -1;
    }
    if (err == -ECONNRESET) return report_launcher_gone();
    if (head.kind == LAUNCH_ENDED) {
        shmemi_info("the job ends"); /* oshrun has said why */
        return -ECONNRESET;
    }
    if (head.kind != LAUNCH_GATHERED || head.bytes != all_bytes) {
        shmemi_error("cannot exchange with the other PEs" WHY "oshrun answered %" PRIu64 " bytes of kind %u, expected were %zu" FIX
                     "use oshrun and libpostern of one installation",
                     head.bytes, head.kind, all_bytes);
        return -EPROTO;
    }
    err = recv_all(all_out, all_bytes, deadline_ns);
    if (err == -ETIMEDOUT) return report_missing(&(struct launch_call){.kind = 0}, timeout_ns);
    return err ? report_launcher_gone() : 0;
}

static int gather_local(struct shmemb *b, const void *mine, size_t bytes, void *all_out, int64_t timeout_ns)
{
    size_t all_bytes;
    assert(b == &only.head && only.is_open);
    assert(bytes == 0 || (mine != NULL && all_out != NULL));
    if (is_forked_copy()) {
        shmemi_error("cannot exchange with the other PEs" WHY "this process is a fork of PE %d" FIX
                     "call SHMEM routines in the process that called shmem_init",
                     b->pe);
        return -EPERM;
    }
    if (only.broken) return only.broken;
    if (!shmemi_mul_size(bytes, (size_t)b->npes, &all_bytes)) return -EOVERFLOW;
    int err = exchange(mine, bytes, all_out, all_bytes, timeout_ns);
    if (err) only.broken = err; /* request and answer no longer match */
    return err;
}

/* ---- the job's end ------------------------------------------------------------------------------------------------------- */

static void abort_local(struct shmemb *b, int status, const char *reason)
{
    assert(b == &only.head);
    if (is_forked_copy()) return;
    /* An empty reason is none, and oshrun tells the two ends apart by it. */
    if (!send_notice(LAUNCH_ABORT, status, reason)) shmemi_debug("PE %d: oshrun is gone", b->pe);
}

/*
 * One message from oshrun, if there is one. False: nothing yet. A socket of this type tells that its other end was closed with a message of ours
 * unread before it gives the messages that are still there, and tells it once: so that error is no end yet.
 */
static bool read_event(struct shmemb_event *event_out)
{
    struct launch_notice notice;
    ssize_t              got = recv(only.notice_fd, &notice, sizeof notice, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET)) return false;
    if (got < (ssize_t)LAUNCH_NOTICE_HEAD) {
        only.launcher_gone = true;
        *event_out         = (struct shmemb_event){.kind = SHMEMB_EVENT_FAILURE, .status = 1, .text = "oshrun is gone"};
        return true;
    }
    notice.text[sizeof notice.text - 1] = '\0';
    if (got < (ssize_t)sizeof notice) ((char *)&notice)[got] = '\0';
    *event_out = (struct shmemb_event){
        .kind   = notice.kind == LAUNCH_END ? SHMEMB_EVENT_END : SHMEMB_EVENT_FAILURE,
        .status = notice.status,
    };
    snprintf(event_out->text, sizeof event_out->text, "%.*s", (int)sizeof event_out->text - 1, notice.text);
    return true;
}

static void wait_for_event(struct shmemb_event *event_out)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = only.wake_fd, .events = POLLIN}, {.fd = only.notice_fd, .events = POLLIN}};
        if (poll(fds, only.launcher_gone ? 1 : 2, -1) < 0) continue; /* EINTR */
        if (fds[0].revents) return;
        if (fds[1].revents && read_event(event_out)) return;
    }
}

static void next_event_local(struct shmemb *b, struct shmemb_event *event_out)
{
    assert(b == &only.head);
    (void)b;
    *event_out = (struct shmemb_event){.kind = SHMEMB_EVENT_NONE};

    pthread_mutex_lock(&only.lock);
    bool enter = only.is_open;
    if (enter) only.waiters++;
    pthread_mutex_unlock(&only.lock);
    if (!enter) return;

    wait_for_event(event_out);

    pthread_mutex_lock(&only.lock);
    if (--only.waiters == 0 && !only.is_open) close(only.wake_fd);
    pthread_mutex_unlock(&only.lock);
}

const struct shmemb_ops shmemb_local_ops = {
    .name       = "local",
    .open       = open_local,
    .leaving    = leaving_local,
    .close      = close_local,
    .allgather  = gather_local,
    .abort      = abort_local,
    .next_event = next_event_local,
};
