/* SPDX-License-Identifier: Apache-2.0
 *
 * The PEs' exchanges and notices, oshrun's side. An exchange is a star: each PE sends its bytes, and when the last has come all
 * get everything. One answer at most is on its way while the next round is collected, because a PE begins a round only after it has the
 * answer of the one before.
 */
#include "runtime/tools/oshrun.h"

#include "runtime/base/num.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- exchange ------------------------------------------------------------------------------------------------------------ */

static void close_call(struct oshrun_job *job, struct oshrun_pe *pe)
{
    oshrun_loop_unwatch(job, pe->call_fd);
    close(pe->call_fd);
    pe->call_fd = -1;
    if (pe->receiving) {
        pe->receiving = false;
        job->exchange.answer_left--;
    }
}

/* Small answers, which always find room: the PE is waiting and its socket is empty. */
static void answer_small(struct oshrun_pe *pe, const struct launch_call *head, const void *bytes)
{
    struct iovec  parts[2] = {{(void *)head, sizeof *head}, {(void *)bytes, head->bytes}};
    struct msghdr message  = {.msg_iov = parts, .msg_iovlen = 2};
    if (pe->call_fd >= 0) (void)!sendmsg(pe->call_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void drop_answer_if_done(struct oshrun_exchange *exchange)
{
    if (exchange->answer_left > 0) return;
    free(exchange->answer);
    exchange->answer = NULL;
}

/* Send as much of the answer as the PE's socket takes; the loop comes back when there is room again. */
static void send_answer(struct oshrun_job *job, struct oshrun_pe *pe)
{
    struct oshrun_exchange *exchange   = &job->exchange;
    const size_t            head_bytes = sizeof exchange->answer_head, all_bytes = head_bytes + exchange->answer_head.bytes;
    while (pe->answer_sent < all_bytes) {
        bool         in_head  = pe->answer_sent < head_bytes;
        size_t       skip     = in_head ? 0 : pe->answer_sent - head_bytes;
        struct iovec parts[2] = {
            {(char *)&exchange->answer_head + pe->answer_sent, in_head ? head_bytes - pe->answer_sent : 0},
            {exchange->answer + skip, exchange->answer_head.bytes - skip},
        };
        struct msghdr message = {.msg_iov = in_head ? parts : parts + 1, .msg_iovlen = in_head ? 2 : 1};
        if (in_head) parts[0].iov_base = (char *)&exchange->answer_head + pe->answer_sent;
        ssize_t sent = sendmsg(pe->call_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) {
            pe->answer_sent += (size_t)sent;
        } else if (errno == EAGAIN) {
            pe->room_watched = true;
            oshrun_loop_change(job, pe->call_fd, EPOLLIN | EPOLLOUT, OSHRUN_CALL, pe->number);
            return;
        } else if (errno != EINTR) {
            close_call(job, pe); /* the PE has ended; its exit tells how */
            drop_answer_if_done(exchange);
            return;
        }
    }
    pe->receiving = false;
    exchange->answer_left--;
    if (pe->room_watched) oshrun_loop_change(job, pe->call_fd, EPOLLIN, OSHRUN_CALL, pe->number);
    pe->room_watched = false;
    drop_answer_if_done(exchange);
}

void oshrun_wire_write_call(struct oshrun_job *job, struct oshrun_pe *pe)
{
    if (pe->call_fd >= 0 && pe->receiving) send_answer(job, pe);
}

static void deliver(struct oshrun_job *job)
{
    struct oshrun_exchange *exchange = &job->exchange;
    assert(exchange->answer == NULL && exchange->answer_left == 0);
    exchange->answer_head = (struct launch_call){.kind = LAUNCH_GATHERED, .bytes = exchange->bytes * (size_t)job->npes};
    exchange->answer      = exchange->collect;
    exchange->answer_left = job->npes;
    exchange->collect     = NULL;
    exchange->arrived = exchange->started = 0;
    exchange->was_asked                   = false;
    for (int i = 0; i < job->npes; i++) {
        job->pes[i].waiting     = false;
        job->pes[i].receiving   = job->pes[i].call_fd >= 0; /* else it has ended while it waited */
        job->pes[i].answer_sent = 0;
        if (!job->pes[i].receiving) exchange->answer_left--;
    }
    for (int i = 0; i < job->npes; i++) {
        if (job->pes[i].receiving) send_answer(job, &job->pes[i]);
    }
    drop_answer_if_done(exchange);
}

/* Where the bytes of this PE's request go, or NULL where it does not fit the round; then the job ends. */
static char *place_of(struct oshrun_job *job, struct oshrun_pe *pe)
{
    struct oshrun_exchange *exchange = &job->exchange;
    size_t                  all_bytes;
    if (exchange->started == 0) {
        bool fits         = shmemi_mul_size(pe->request.bytes, (size_t)job->npes, &all_bytes);
        exchange->bytes   = pe->request.bytes;
        exchange->collect = fits ? malloc(all_bytes + 1) : NULL; /* a barrier has no bytes, and malloc(0) may be NULL */
        if (exchange->collect == NULL) {
            oshrun_output_say(&job->output, "could not get memory for an exchange of %d PEs with %ju bytes each", job->npes,
                              (uintmax_t)pe->request.bytes);
            oshrun_end_begin(job, LAUNCH_FAILURE, OSHRUN_EXIT_FAILED, NULL, "oshrun has no memory for an exchange");
            return NULL;
        }
    }
    if (pe->request.bytes != exchange->bytes) {
        oshrun_output_say(&job->output,
                          "PE %d cannot take part in the exchange: it gives %ju bytes, others give %zu"
                          "\n    why: the PEs run different programs or versions of the library"
                          "\n    fix: start the same program on all PEs",
                          pe->number, (uintmax_t)pe->request.bytes, exchange->bytes);
        oshrun_end_begin(job, LAUNCH_FAILURE, OSHRUN_EXIT_FAILED, NULL, "the PEs do not make the same exchange");
        return NULL;
    }
    exchange->started++;
    return exchange->collect + (size_t)pe->number * exchange->bytes;
}

static void answer_ended(struct oshrun_pe *pe)
{
    pe->waiting = false;
    answer_small(pe, &(struct launch_call){.kind = LAUNCH_ENDED}, NULL);
}

/* "PE 3, 5-7 have" */
static void list_pes(const struct oshrun_job *job, bool (*belongs)(const struct oshrun_pe *), char *text, size_t text_bytes)
{
    size_t used  = 0;
    int    count = 0;
    text[0]      = '\0';
    for (int i = 0; i < job->npes; i++) {
        int last = i;
        if (!belongs(&job->pes[i])) continue;
        while (last + 1 < job->npes && belongs(&job->pes[last + 1])) last++;
        const char *comma = count > 0 ? ", " : "";
        count += last - i + 1;
        if (used + 40 < text_bytes) {
            used += (size_t)(last > i + 1 ? snprintf(text + used, text_bytes - used, "%s%d-%d", comma, i, last)
                             : last > i   ? snprintf(text + used, text_bytes - used, "%s%d, %d", comma, i, last)
                                          : snprintf(text + used, text_bytes - used, "%s%d", comma, i));
        } else if (used + 4 < text_bytes) {
            used += (size_t)snprintf(text + used, text_bytes - used, "..."); /* once: the next one finds no room */
            text_bytes = used;
        }
        i = last;
    }
}

static bool is_missing(const struct oshrun_pe *pe)
{
    return !pe->waiting;
}
static bool never_joined(const struct oshrun_pe *pe)
{
    return !pe->waiting && !pe->ever_joined;
}
static bool joined_elsewhere(const struct oshrun_pe *pe)
{
    return !pe->waiting && pe->joined;
}
static bool has_left(const struct oshrun_pe *pe)
{
    return !pe->waiting && pe->ever_joined && !pe->joined;
}

/* What is known about those who are missing. */
static void tell_states(const struct oshrun_job *job, char *text, size_t text_bytes)
{
    static const struct {
        bool (*belongs)(const struct oshrun_pe *);
        const char *words;
    } states[] = {
        {never_joined, "has not called shmem_init (it computes, waits for something else, or is another program)"},
        {joined_elsewhere, "is in the job, but not in this exchange"},
        {has_left, "has left the job by shmem_finalize"},
    };
    size_t used = 0;
    text[0]     = '\0';
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        char list[256];
        list_pes(job, states[i].belongs, list, sizeof list);
        if (list[0] == '\0') continue;
        int more = snprintf(text + used, text_bytes - used, "%sPE %s %s", used > 0 ? "; " : "", list, states[i].words);
        used += (size_t)more < text_bytes - used ? (size_t)more : text_bytes - used - 1;
    }
}

static void answer_missing(struct oshrun_job *job, struct oshrun_pe *pe)
{
    char   text[2 * LAUNCH_TEXT_BYTES];
    size_t used;
    char   list[LAUNCH_TEXT_BYTES / 2];
    list_pes(job, is_missing, list, sizeof list);
    bool several = strpbrk(list, ",-") != NULL;
    used         = (size_t)snprintf(text, LAUNCH_TEXT_BYTES, "PE %s %s", list, several ? "have" : "has") + 1;
    tell_states(job, text + used, LAUNCH_TEXT_BYTES);
    used += strlen(text + used) + 1;
    answer_small(pe, &(struct launch_call){.kind = LAUNCH_MISSING, .first = !job->exchange.was_asked, .bytes = used}, text);
    job->exchange.was_asked = true;
}

/*
 * No more exchanges for this PE: it is told, and what it sends is read and dropped. Closing instead would cut it off in the middle
 * of a request, and it would take us for gone.
 */
static void refuse(struct oshrun_pe *pe)
{
    pe->refused = true;
    answer_ended(pe);
}

/* The PE has come out of the barrier that it announced: it leaves, or waits for all others to have come out before it leaves. */
static void came_out(struct oshrun_job *job, struct oshrun_pe *pe)
{
    pe->finalized = pe->announced;
    if (pe->finalized > job->finalized_max) job->finalized_max = pe->finalized;
}

/* An exchange without bytes after LEAVING, whose notice may still lie in its socket, is the last one of this job. */
static void note_goodbye(struct oshrun_job *job, struct oshrun_pe *pe)
{
    if (pe->request.bytes > 0) return;
    oshrun_wire_read_notices(job, pe);
    if (pe->announced > pe->finalized) came_out(job, pe);
}

/* A whole head has come. */
static void begin_request(struct oshrun_job *job, struct oshrun_pe *pe)
{
    if (pe->request.kind == LAUNCH_GATHER && !pe->waiting) note_goodbye(job, pe);
    if (pe->request.kind == LAUNCH_ASK) {
        pe->request_got = 0;
        if (pe->waiting) answer_missing(job, pe); /* else its answer is on its way already */
    } else if (pe->request.kind != LAUNCH_GATHER || pe->waiting) {
        oshrun_output_say(&job->output, "PE %d sent a request that makes no sense (kind %u)", pe->number, pe->request.kind);
        oshrun_end_begin(job, LAUNCH_FAILURE, OSHRUN_EXIT_FAILED, NULL, "oshrun and a PE do not understand each other");
        refuse(pe);
    } else if (job->ending || place_of(job, pe) == NULL) {
        refuse(pe);
    }
}

static void complete_request(struct oshrun_job *job, struct oshrun_pe *pe)
{
    pe->request_got = 0;
    pe->waiting     = true;
    job->exchange.arrived++;
    if (job->ending) answer_ended(pe);
    else if (job->exchange.arrived == job->npes) deliver(job);
    else oshrun_end_check_exchange(job);
}

/* Where the next bytes of a PE go; how many are wanted. */
static char *next_place(const struct oshrun_job *job, struct oshrun_pe *pe, size_t *room_out)
{
    static char  dropped[4096];
    const size_t head_bytes = sizeof pe->request;
    if (pe->refused) {
        *room_out = sizeof dropped;
        return dropped;
    }
    if (pe->request_got < head_bytes) {
        *room_out = head_bytes - pe->request_got;
        return (char *)&pe->request + pe->request_got;
    }
    size_t offset = pe->request_got - head_bytes;
    *room_out     = pe->request.bytes - offset;
    return job->exchange.collect + (size_t)pe->number * job->exchange.bytes + offset;
}

void oshrun_wire_read_call(struct oshrun_job *job, struct oshrun_pe *pe)
{
    const size_t head_bytes = sizeof pe->request;
    while (pe->call_fd >= 0) {
        size_t  room;
        bool    in_head = pe->request_got < head_bytes;
        char   *to      = next_place(job, pe, &room);
        ssize_t got     = recv(pe->call_fd, to, room, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got <= 0) {
            close_call(job, pe);
            drop_answer_if_done(&job->exchange);
            return;
        }
        if (pe->refused) continue;
        pe->request_got += (size_t)got;
        if (in_head && pe->request_got == head_bytes) begin_request(job, pe);
        if (!pe->refused && pe->request_got >= head_bytes && pe->request_got == head_bytes + pe->request.bytes) {
            complete_request(job, pe);
            return; /* it waits now; what comes next is told by epoll */
        }
    }
}

void oshrun_wire_end_exchange(struct oshrun_job *job)
{
    for (int i = 0; i < job->npes; i++) {
        if (job->pes[i].waiting) answer_ended(&job->pes[i]);
    }
}

const struct oshrun_pe *oshrun_wire_never_arrives(const struct oshrun_job *job)
{
    bool somebody_waits = false;
    for (int i = 0; i < job->npes && !somebody_waits; i++) somebody_waits = job->pes[i].waiting && !job->pes[i].exited;
    if (!somebody_waits) return NULL;
    for (int i = 0; i < job->npes; i++) {
        if (job->pes[i].exited && !job->pes[i].waiting) return &job->pes[i];
    }
    return NULL;
}

/* ---- notices ------------------------------------------------------------------------------------------------------------- */

void oshrun_wire_send_notice(struct oshrun_pe *pe, enum launch_notice_kind kind, int status, const char *text)
{
    struct launch_notice notice = {.kind = kind, .status = status};
    snprintf(notice.text, sizeof notice.text, "%s", text);
    if (pe->notice_fd >= 0)
        (void)!send(pe->notice_fd, &notice, LAUNCH_NOTICE_HEAD + strlen(notice.text) + 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void close_member(struct oshrun_job *job, struct oshrun_pe *pe)
{
    if (pe->member_fd >= 0) {
        oshrun_loop_unwatch(job, pe->member_fd);
        close(pe->member_fd);
    }
    pe->member_fd = -1;
    pe->lost_ns   = 0;
    pe->failing   = 0;
}

static void take_hello(struct oshrun_job *job, struct oshrun_pe *pe, pid_t member_pid)
{
    if (pe->joined && pe->member_pid != member_pid && pe->lost_ns == 0) {
        oshrun_output_say(&job->output,
                          "two programs (processes %ld and %ld) cannot both be PE %d"
                          "\n    why: what oshrun started runs more than one program that calls shmem_init at the same time"
                          "\n    fix: run them one after the other, or start each by an oshrun of its own",
                          (long)pe->member_pid, (long)member_pid, pe->number);
        oshrun_end_begin(job, LAUNCH_FAILURE, OSHRUN_EXIT_FAILED, NULL, "two programs are the same PE");
        return;
    }
    close_member(job, pe);
    pe->unstarted = false;
    pe->joined = pe->ever_joined = true;
    pe->member_pid               = member_pid;
    if (member_pid != pe->pid && member_pid > 0) {
        /* A script stands between. Its end may come much later than the PE's, so the PE is watched itself. */
        pe->member_fd = (int)syscall(SYS_pidfd_open, member_pid, 0);
        if (pe->member_fd >= 0) oshrun_loop_watch(job, pe->member_fd, EPOLLIN, OSHRUN_MEMBER, pe->number);
    }
    if (job->ending) oshrun_wire_send_notice(pe, LAUNCH_FAILURE, job->status, "the job ends");
}

static pid_t sender_of(struct msghdr *message)
{
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;
            memcpy(&who, CMSG_DATA(part), sizeof who);
            return who.pid;
        }
    }
    return 0;
}

void oshrun_wire_read_notices(struct oshrun_job *job, struct oshrun_pe *pe)
{
    while (pe->notice_fd >= 0) {
        struct launch_notice notice;
        union {
            struct cmsghdr aligned;
            char           bytes[CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct iovec  part    = {&notice, sizeof notice};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t       got     = recvmsg(pe->notice_fd, &message, MSG_DONTWAIT);
        /* ECONNRESET: it ended with a notice of ours unread. The kernel says that once, and before its own last notices. */
        if (got < 0 && (errno == EINTR || errno == ECONNRESET)) continue;
        if (got < 0 && errno == EAGAIN) return;
        if (got < (ssize_t)LAUNCH_NOTICE_HEAD) {
            oshrun_loop_unwatch(job, pe->notice_fd);
            close(pe->notice_fd);
            pe->notice_fd = -1;
            return;
        }
        if (got == (ssize_t)LAUNCH_NOTICE_HEAD) notice.text[0] = '\0';
        notice.text[sizeof notice.text - 1] = '\0';
        if (notice.kind == LAUNCH_HELLO) {
            take_hello(job, pe, sender_of(&message));
        } else if (notice.kind == LAUNCH_LEAVING) {
            pe->announced++;
            pe->barriers = notice.status >> 8;
            pe->failing  = notice.status & 0xff;
            if (pe->failing != 0) pe->lost_ns = shmemi_now_ns();
        } else if (notice.kind == LAUNCH_LEAVE) {
            close_member(job, pe);
            pe->joined    = false;
            pe->unstarted = notice.status == LAUNCH_LEFT_UNSTARTED;
            if (notice.status == LAUNCH_LEFT_FINALIZED) came_out(job, pe);
        } else if (notice.kind == LAUNCH_ABORT) {
            oshrun_end_abort(job, pe, notice.status, notice.text);
        }
    }
}

static bool is_behind(const struct oshrun_pe *pe)
{
    return pe->is_behind;
}

/* PEs that were not in that barrier when PE `first` came out of it: it met them in another one. Marks them; are there any? */
static bool mark_behind(struct oshrun_job *job, const struct oshrun_pe *first)
{
    int  wanted = first->finalized;
    bool behind = false;
    for (int i = 0; i < job->npes; i++) {
        struct oshrun_pe *pe = &job->pes[i];
        if (pe->announced < wanted) oshrun_wire_read_notices(job, pe);
        /* Whoever has announced the next one already has been in a start with all others since. */
        pe->is_behind =
            pe->announced < wanted || (pe->announced == wanted && first->announced == wanted && pe->barriers != first->barriers);
        if (pe->is_behind) behind = true;
    }
    return behind;
}

/*
 * Who comes out of the barrier of the last finalize has met all others, and if they are in the same one, each has sent LEAVING with the same
 * number before. So that notice is in our hands or in its socket. A PE that has sent none, or another number, met the others by another collective
 * call, and waits for ever when it comes to its last finalize.
 */
void oshrun_wire_check_finalize(struct oshrun_job *job)
{
    if (job->ending || job->finalized_checked == job->finalized_max) return;
    const struct oshrun_pe *first = job->pes;
    while (first->finalized != job->finalized_max) first++;
    job->finalized_checked = job->finalized_max;
    if (!mark_behind(job, first) || job->ending) return;

    char list[256], text[LAUNCH_TEXT_BYTES];
    list_pes(job, is_behind, list, sizeof list);
    snprintf(text, sizeof text, "PE %d has left the job by shmem_finalize, and PE %s cannot follow", first->number, list);
    oshrun_output_say(
        &job->output,
        "%s"
        "\n    why: where PE %d made its last shmem_finalize, PE %s made another collective call: a barrier, an allocation, or"
        " a shmem_finalize that was not the last"
        "\n    fix: call shmem_init and shmem_finalize equally often on every PE, and all collective calls in the same order",
        text, first->number, list);
    oshrun_end_begin(job, LAUNCH_FAILURE, OSHRUN_EXIT_FAILED, NULL, text);
}
