/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread on rank 0 that serves a job with a unique id: it lets PEs in, collects the parts of an exchange and gives them to all, and says
 * when a PE is gone or ends the job. Rank 0 itself is one of its clients, over a socket pair, so there is one path for all.
 *
 * The listening socket is open to anybody who finds it. A connection that has not proved to know the secret gets little: room for one
 * struct uid_join, some seconds, and a place that the oldest such connection must give up when there are too many. It can hold nobody up,
 * because nothing here waits for one connection: all sockets are non-blocking, and what cannot be sent at once is queued.
 *
 * Threads: everything is the thread's own, but for the few fields under `lock` and the descriptors, which a forked child closes.
 */
#include "runtime/bootstrap/uid.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define PROVE_NS_MAX    20000000000 /* from connecting to proving                                                   */
#define PROVE_NS_MIN    300000000   /* so long a stranger keeps its place in any case */
#define LEAVE_NS_MAX    3000000000  /* after the first PE has left: all others must have said that they finalize     */
#define FAILING_NS_MAX  3000000000  /* after a PE finalizes in exit() with another status than 0: the others come too */
#define LAST_WORDS_NS   2000000000  /* for what is still to be sent, when rank 0 goes                               */
#define ACCEPT_PAUSE_NS 100000000   /* no descriptors or places left: look again after */
enum { STRANGERS_MAX = 128, ACCEPTED_MAX = 16, LISTED_MAX = 8 };

/* Bytes on their way to one or more PEs. */
struct blob {
    unsigned      references;
    size_t        bytes;
    unsigned char data[];
};

struct parcel {
    struct parcel *next;
    struct blob   *blob;
};

struct conn {
    _Atomic int fd;       /* -1: this place is free              */
    int         pe;       /* -1: has proved nothing              */
    int64_t     until_ns; /* for a stranger                      */
    uint8_t     nonce[UID_NONCE_BYTES];
    size_t      head_got; /* of `head`                           */
    union {
        struct uid_join  join;
        struct uid_frame frame;
    } head;
    unsigned char  *body; /* where the frame's body goes               */
    size_t          body_got;
    struct uid_text text; /* body of ABORT                             */
    struct parcel  *first, *last;
    size_t          sent; /* of the first parcel                       */
};

enum pe_state { PE_ABSENT, PE_HERE, PE_LEAVING, PE_LEFT, PE_LOST };

struct pe {
    enum pe_state state;
    bool          gave;     /* its part of the exchange under way */
    int64_t       barriers; /* from LEAVING on                    */
};

static struct {
    pthread_t      thread;
    bool           running;
    int            npes;
    uint8_t        secret[UID_SECRET_BYTES];
    _Atomic int    listen_fd, wake_fd;
    size_t         places; /* of conn: all PEs, all PEs while they prove who they are, and strangers */
    struct conn   *conn;
    struct pollfd *ready; /* [places + 2] */
    struct pe     *pe;
    bool           ended;       /* END or FAILURE is said: nothing else is from here on */
    bool           closing;     /* rank 0 has left and waits for no one                 */
    int            first_left;  /* PE that has left first, or -1                        */
    int64_t        leave_by_ns; /* LEAVE_NS_MAX after that; INT64_MAX: not yet          */
    int64_t        failing_by_ns;
    int            failing_pe, failing_status;
    int64_t        accept_at_ns;
    bool           accept_warned;

    /* The exchange under way. */
    unsigned char *all;
    size_t         part_bytes;
    int            given; /* by how many */
    int64_t        round_by_ns, round_limit_ns;

    pthread_mutex_t lock;
    pthread_cond_t  changed;
    int64_t         stop_by_ns; /* INT64_MAX: not asked to */
    bool            told;       /* the end is with all PEs but rank 0 */
} server = {.listen_fd = -1, .wake_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static void pe_is_lost(int pe, const char *why);

/* ---- sending ---- */

static struct blob *new_blob(const void *head, size_t head_bytes, const void *body, size_t body_bytes)
{
    struct blob *blob = malloc(sizeof *blob + head_bytes + body_bytes);
    if (!blob) return NULL;
    blob->references = 0;
    blob->bytes      = head_bytes + body_bytes;
    memcpy(blob->data, head, head_bytes);
    if (body) memcpy(blob->data + head_bytes, body, body_bytes);
    return blob;
}

static void drop_parcel(struct conn *conn)
{
    struct parcel *parcel = conn->first;
    conn->first           = parcel->next;
    conn->sent            = 0;
    if (--parcel->blob->references == 0) free(parcel->blob);
    free(parcel);
}

static void close_conn(struct conn *conn)
{
    while (conn->first) drop_parcel(conn);
    int fd = atomic_load_explicit(&conn->fd, memory_order_relaxed);
    atomic_store_explicit(&conn->fd, -1,
                          memory_order_relaxed); /* first: a fork in between must not close what is another's by then */
    close(fd);
    *conn = (struct conn){.fd = -1, .pe = -1};
}

/* The connection has ended, or cannot be used any more. */
static void lose_conn(struct conn *conn, const char *why)
{
    int pe = conn->pe;
    close_conn(conn);
    if (pe >= 0) pe_is_lost(pe, why);
}

/* Send what is queued, as far as it goes. False: the connection is gone (and closed). */
static bool flush(struct conn *conn)
{
    while (conn->first) {
        const struct blob *blob = conn->first->blob;
        ssize_t            sent = send(conn->fd, blob->data + conn->sent, blob->bytes - conn->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) {
            lose_conn(conn, strerror(errno));
            return false;
        }
        conn->sent += (size_t)sent;
        if (conn->sent == blob->bytes) drop_parcel(conn);
    }
    return true;
}

/* A place in the queue. Without memory for it the connection is lost: better than a PE that waits for ever. */
static void queue(struct conn *conn, struct blob *blob)
{
    struct parcel *parcel = blob ? malloc(sizeof *parcel) : NULL;
    if (!parcel) {
        lose_conn(conn, "rank 0 has no memory left");
        return;
    }
    *parcel = (struct parcel){.blob = blob};
    blob->references++;
    if (conn->first) conn->last->next = parcel;
    else conn->first = parcel;
    conn->last = parcel;
}

/* To all PEs that are connected; to rank 0 last, since it may exit when it hears the end. */
static void send_all(struct blob *blob)
{
    if (blob) blob->references++;
    for (size_t i = server.places; i-- > 0;) {
        struct conn *conn = &server.conn[i];
        if (conn->fd < 0 || conn->pe < 0) continue;
        queue(conn, blob);
        if (conn->fd >= 0) flush(conn);
    }
    if (blob && --blob->references == 0) free(blob);
}

static void end_job(const struct uid_frame *frame, const void *body)
{
    if (server.ended) return;
    server.ended = true;
    send_all(new_blob(frame, sizeof *frame, body, (size_t)frame->bytes));
}

/* All PEs say this and end, or their exchange fails with err. */
static SHMEMI_COLD void fail_job(int err, const struct uid_text *text)
{
    struct uid_frame frame = {.kind = UID_FAILURE, .value = 1, .number = err, .bytes = sizeof *text};
    end_job(&frame, text);
}

static void pe_is_lost(int pe, const char *why)
{
    enum pe_state state = server.pe[pe].state;
    if (state == PE_LEFT) return;
    server.pe[pe].state  = PE_LOST;
    struct uid_text text = {.fix = "look at what it said last; call shmem_finalize on all PEs before they end"};
    snprintf(text.what, sizeof text.what, "PE %d is gone", pe);
    snprintf(text.why, sizeof text.why, "its process ended without shmem_finalize, or the connection to it broke%s%s",
             *why ? ": " : "", why);
    fail_job(ECONNRESET, &text);
}

/* ---- the exchange ---- */

/* "PE 2", "PEs 1 and 5", "PEs 1, 2, 3 and 12 more": those whose state is `state` and who have not given. Their number. */
static int list_missing(enum pe_state state, char *text, size_t bytes)
{
    int    count = 0, shown = 0;
    size_t used = 0;
    for (int pe = 0; pe < server.npes; pe++)
        if (server.pe[pe].state == state && !server.pe[pe].gave) count++;
    for (int pe = 0; pe < server.npes && used < bytes && shown < LISTED_MAX; pe++) {
        if (server.pe[pe].state != state || server.pe[pe].gave) continue;
        bool last = shown + 1 == count;
        used += (size_t)snprintf(text + used, bytes - used, "%s%d",
                                 shown == 0 ? (count == 1 ? "PE " : "PEs ")
                                 : last     ? " and "
                                            : ", ",
                                 pe);
        shown++;
    }
    if (shown < count && used < bytes) snprintf(text + used, bytes - used, " and %d more", count - shown);
    return count;
}

static SHMEMI_COLD void round_is_late(void)
{
    char            absent[80] = "", silent[80] = "";
    struct uid_text text = {.fix = "see what holds them up; timeout_s or POSTERN_INIT_TIMEOUT sets the limit"};
    int    absents = list_missing(PE_ABSENT, absent, sizeof absent), silents = list_missing(PE_HERE, silent, sizeof silent);
    double limit_s = (double)server.round_limit_ns / 1e9;
    snprintf(text.what, sizeof text.what, "%s not arrived within %g s", absents ? absent : silent, limit_s);
    if (absents)
        snprintf(text.why, sizeof text.why, "%s not called shmemx_init_attr with this unique id, or cannot reach rank 0%s%s%s",
                 absents == 1 ? "it has" : "they have", silents ? "; " : "", silent, silents ? " joined, but went no further" : "");
    else snprintf(text.why, sizeof text.why, "joined, but went no further at start-up");
    fail_job(ETIMEDOUT, &text);
}

static void end_round(void)
{
    free(server.all);
    server.all         = NULL;
    server.given       = 0;
    server.round_by_ns = INT64_MAX;
    for (int pe = 0; pe < server.npes; pe++) server.pe[pe].gave = false;
}

/* All parts are there. */
static void answer_round(void)
{
    size_t           bytes = server.part_bytes * (size_t)server.npes;
    struct uid_frame head  = {.kind = UID_GATHERED, .bytes = bytes};
    struct blob     *blob  = new_blob(&head, sizeof head, server.all, bytes);
    end_round();
    send_all(blob);
}

/* The head of GATHER is there: where its body goes. False: it does not fit to the others; the job ends. */
static bool begin_part(struct conn *conn)
{
    const struct uid_frame *frame = &conn->head.frame;
    size_t                  bytes = (size_t)frame->bytes, all_bytes;
    struct uid_text         text  = {.fix = "start all PEs with the same libpostern"};
    if (server.given == 0 && !server.all) {
        if (!shmemi_mul_size(bytes, (size_t)server.npes, &all_bytes) || !(server.all = malloc(all_bytes + 1))) {
            snprintf(text.what, sizeof text.what, "rank 0 cannot collect %zu bytes of each PE", bytes);
            snprintf(text.why, sizeof text.why, "it has no memory for the parts of %d PEs", server.npes);
            fail_job(ENOMEM, &text);
            return false;
        }
        server.part_bytes  = bytes;
        server.round_by_ns = INT64_MAX;
    }
    int64_t by_ns = frame->number < 0 ? INT64_MAX : shmemi_now_ns() + frame->number;
    if (by_ns < server.round_by_ns) { /* who has the least patience ends the wait of all */
        server.round_by_ns    = by_ns;
        server.round_limit_ns = frame->number;
    }
    if (bytes != server.part_bytes || server.pe[conn->pe].gave) {
        snprintf(text.what, sizeof text.what, "PE %d exchanges other data than the others", conn->pe);
        snprintf(text.why, sizeof text.why, "it gives %zu bytes where others give %zu", bytes, server.part_bytes);
        fail_job(EPROTO, &text);
        return false;
    }
    conn->body = server.all + (size_t)conn->pe * bytes;
    return true;
}

/* An exchange has begun that a PE cannot come to any more, because its own start has failed. */
static void look_for_leavers(void)
{
    for (int pe = 0; pe < server.npes && server.given > 0; pe++) {
        if (server.pe[pe].state != PE_LEFT) continue;
        struct uid_text text = {.why = "it could not start", .fix = "look at what it said"};
        snprintf(text.what, sizeof text.what, "PE %d has left the job while others start", pe);
        fail_job(ECONNRESET, &text);
        return;
    }
}

static void part_is_here(int pe)
{
    server.pe[pe].gave = true;
    if (++server.given == server.npes) answer_round();
    else look_for_leavers();
}

/* ---- leaving ---- */

/*
 * Each PE tells before its last barrier in how many it has been. Who comes out of that barrier has met all others; if one of them has not told, or has
 * told another number, it is in some other barrier and waits for PEs that are gone.
 */
static SHMEMI_COLD void cannot_follow(int pe, int other)
{
    struct uid_text text = {.fix = "call shmem_finalize, and all collectives before it, equally often on all PEs"};
    snprintf(text.what, sizeof text.what, "PE %d cannot come to its end", pe);
    snprintf(text.why, sizeof text.why, "PE %d has finalized, and PE %d waits in another call for all PEs", other, pe);
    fail_job(EPROTO, &text);
}

static void pe_finalizes(int pe, const struct uid_frame *frame)
{
    server.pe[pe].state    = PE_LEAVING;
    server.pe[pe].barriers = frame->number;
    for (int other = 0; other < server.npes; other++) {
        const struct pe *o = &server.pe[other];
        if ((o->state != PE_LEAVING && o->state != PE_LEFT) || o->barriers < 0 || o->barriers == frame->number) continue;
        bool behind = o->barriers > frame->number;
        cannot_follow(behind ? other : pe, behind ? pe : other);
        return;
    }
    if (frame->value == 0 || server.failing_by_ns != INT64_MAX) return;
    server.failing_by_ns  = shmemi_now_ns() + FAILING_NS_MAX;
    server.failing_pe     = pe;
    server.failing_status = frame->value;
}

static void pe_leaves(int pe, enum uid_left how)
{
    bool finalized      = how == UID_LEFT && server.pe[pe].state == PE_LEAVING;
    server.pe[pe].state = PE_LEFT;
    if (!finalized) server.pe[pe].barriers = -1;
    if (finalized && server.first_left < 0) {
        server.first_left  = pe;
        server.leave_by_ns = shmemi_now_ns() + LEAVE_NS_MAX;
    }
    if (pe == 0 && how == UID_LEFT_UNSTARTED) server.closing = true;
    if (!server.ended) look_for_leavers();
}

static int count_state(enum pe_state state)
{
    int count = 0;
    for (int pe = 0; pe < server.npes; pe++)
        if (server.pe[pe].state == state) count++;
    return count;
}

/* Whoever is past its time. */
static void look_at_clock(int64_t now_ns)
{
    for (size_t i = 0; i < server.places; i++) {
        struct conn *conn = &server.conn[i];
        if (conn->fd >= 0 && conn->pe < 0 && conn->until_ns <= now_ns) close_conn(conn);
    }
    if (server.ended) return;
    if (server.round_by_ns <= now_ns) round_is_late();
    if (server.leave_by_ns <= now_ns) {
        server.leave_by_ns = INT64_MAX;
        for (int pe = 0; pe < server.npes && !server.ended; pe++)
            if (server.pe[pe].state == PE_HERE) cannot_follow(pe, server.first_left);
    }
    if (server.failing_by_ns <= now_ns) {
        server.failing_by_ns = INT64_MAX;
        if (count_state(PE_HERE) == 0) return;
        struct uid_text text = {.fix = "look at what it said"};
        snprintf(text.what, sizeof text.what, "PE %d ends with status %d, and others have not come to their end", server.failing_pe,
                 server.failing_status);
        snprintf(text.why, sizeof text.why, "it has waited for them for %d s", (int)(FAILING_NS_MAX / 1000000000));
        fail_job(ECONNRESET, &text);
    }
}

/* ---- receiving ---- */

static bool head_makes_sense(const struct uid_frame *frame)
{
    switch (frame->kind) {
    case UID_GATHER: return frame->bytes <= UID_GATHER_BYTES_MAX;
    case UID_ABORT: return frame->bytes == sizeof(struct uid_text);
    case UID_LEAVING:
    case UID_LEAVE: return frame->bytes == 0;
    default: return false;
    }
}

static void abort_job(int pe, const struct uid_frame *frame, struct uid_text *text)
{
    text->what[sizeof text->what - 1] = '\0';
    if (*text->what == '\0') {
        end_job(&(struct uid_frame){.kind = UID_END, .value = frame->value}, NULL);
        return;
    }
    struct uid_text told = {.fix = "look at what it said"};
    snprintf(told.what, sizeof told.what, "PE %d has ended the job", pe);
    snprintf(told.why, sizeof told.why, "%s", text->what);
    fail_job(ECONNRESET, &told);
}

/* A frame is complete. */
static void take_frame(struct conn *conn)
{
    struct uid_frame frame = conn->head.frame;
    conn->head_got         = 0;
    conn->body             = NULL;
    conn->body_got         = 0;
    if (server.ended) return; /* but for LEAVE, which only counts */
    switch (frame.kind) {
    case UID_GATHER: part_is_here(conn->pe); break;
    case UID_LEAVING: pe_finalizes(conn->pe, &frame); break;
    case UID_ABORT: abort_job(conn->pe, &frame, &conn->text); break;
    default: break;
    }
}

static void refuse(struct conn *conn, const struct uid_welcome *welcome)
{
    (void)!send(conn->fd, welcome, sizeof *welcome, MSG_NOSIGNAL | MSG_DONTWAIT);
    close_conn(conn);
}

/* A stranger has sent all of its join. */
static void let_in(struct conn *conn)
{
    const struct uid_join *join    = &conn->head.join;
    struct uid_proof       proof   = {.pe = join->pe, .npes = join->npes};
    struct uid_welcome     welcome = {.verdict = UID_WELCOME, .npes = (uint32_t)server.npes};
    uint8_t                tag[SHMEMI_UID_MAC_BYTES];
    if (memcmp(join->magic, UID_MAGIC, UID_MAGIC_BYTES) != 0) {
        close_conn(conn);
        return;
    }
    memcpy(proof.server_nonce, conn->nonce, UID_NONCE_BYTES);
    memcpy(proof.client_nonce, join->nonce, UID_NONCE_BYTES);
    shmemi_uid_join_tag(server.secret, &proof, "join", tag);
    if (!shmemi_uid_mac_equal(tag, join->tag)) {
        shmemi_info("a connection with another secret was refused");
        refuse(conn, &(struct uid_welcome){.verdict = UID_WRONG_SECRET});
        return;
    }
    if (join->npes != (uint32_t)server.npes || join->pe >= join->npes) welcome.verdict = UID_WRONG_NPES;
    else if (server.pe[join->pe].state == PE_HERE || server.pe[join->pe].state == PE_LEAVING) welcome.verdict = UID_TAKEN;
    else if (server.pe[join->pe].state != PE_ABSENT || server.ended || server.closing) welcome.verdict = UID_OVER;
    proof.verdict = welcome.verdict;
    shmemi_uid_join_tag(server.secret, &proof, "welcome", welcome.tag);
    if (welcome.verdict != UID_WELCOME) {
        refuse(conn, &welcome);
        return;
    }
    int pe         = (int)join->pe;
    conn->pe       = pe;
    conn->head_got = 0;
    server.pe[pe]  = (struct pe){.state = PE_HERE};
    queue(conn, new_blob(&welcome, sizeof welcome, NULL, 0));
    if (conn->fd >= 0) flush(conn);
}

/* One recv() into data; true where it is complete now. The connection may be closed on the way. */
static bool fill(struct conn *conn, void *data, size_t bytes, size_t *got)
{
    if (*got < bytes) {
        ssize_t more = recv(conn->fd, (char *)data + *got, bytes - *got, MSG_DONTWAIT);
        if (more < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return false;
        if (more <= 0) {
            lose_conn(conn, more < 0 ? strerror(errno) : "");
            return false;
        }
        *got += (size_t)more;
    }
    return *got == bytes;
}

/* Whatever has come from a PE. A frame at a time, so that one PE that sends much does not hold up the others. */
static void read_pe(struct conn *conn)
{
    struct uid_frame *frame = &conn->head.frame;
    if (conn->head_got < sizeof *frame) {
        if (!fill(conn, frame, sizeof *frame, &conn->head_got)) return;
        if (!head_makes_sense(frame)) {
            lose_conn(conn, "it sent what no PE sends");
            return;
        }
        conn->body_got = 0;
        conn->body     = frame->kind == UID_ABORT ? (unsigned char *)&conn->text : NULL;
        if (frame->kind == UID_GATHER && (server.ended || !begin_part(conn))) {
            close_conn(conn); /* it has been told the end, and reads that first */
            return;
        }
    }
    if (frame->bytes > 0 && !fill(conn, conn->body, (size_t)frame->bytes, &conn->body_got)) return;
    if (frame->kind == UID_LEAVE) {
        int pe = conn->pe, how = frame->value;
        close_conn(conn);
        pe_leaves(pe, how == UID_LEFT_UNSTARTED ? UID_LEFT_UNSTARTED : UID_LEFT);
        return;
    }
    take_frame(conn);
}

static void read_conn(struct conn *conn)
{
    if (conn->pe >= 0) read_pe(conn);
    else if (fill(conn, &conn->head.join, sizeof conn->head.join, &conn->head_got)) let_in(conn);
}

/* ---- accepting ---- */

/*
 * A free place, or NULL. Where there are too many strangers the oldest gives up its place, if it has had its time: who knows the secret
 * proves it at once. Until then new ones wait in the kernel's queue.
 */
static struct conn *find_place(int64_t now_ns)
{
    struct conn *free_place = NULL, *oldest = NULL;
    size_t       strangers = 0;
    for (size_t i = 0; i < server.places; i++) {
        struct conn *conn = &server.conn[i];
        if (conn->fd < 0) {
            if (!free_place) free_place = conn;
        } else if (conn->pe < 0) {
            strangers++;
            if (!oldest || conn->until_ns < oldest->until_ns) oldest = conn;
        }
    }
    if (strangers < (size_t)server.npes + STRANGERS_MAX) return free_place;
    if (oldest->until_ns - PROVE_NS_MAX + PROVE_NS_MIN > now_ns) return NULL;
    close_conn(oldest);
    return oldest;
}

/* No connection can be taken now: look again later. */
static void pause_accepting(int64_t now_ns, int err)
{
    server.accept_at_ns = now_ns + ACCEPT_PAUSE_NS;
    if (!err || server.accept_warned) return;
    server.accept_warned = true;
    shmemi_warn("could not take the connection of a PE: %s" WHY "rank 0 has a connection to each PE" FIX
                "raise `ulimit -n` on rank 0",
                strerror(err));
}

/* Say hello to a new connection. It has room for so few bytes. */
static void greet(struct conn *conn, int fd, int64_t now_ns)
{
    struct uid_hello hello = {.nonce = {0}};
    *conn                  = (struct conn){.fd = fd, .pe = -1, .until_ns = now_ns + PROVE_NS_MAX};
    memcpy(hello.magic, UID_MAGIC, sizeof hello.magic);
    shmemi_uid_join_tune(fd);
    bool drawn = getrandom(hello.nonce, sizeof hello.nonce, 0) == sizeof hello.nonce;
    memcpy(conn->nonce, hello.nonce, sizeof hello.nonce);
    if (!drawn || send(fd, &hello, sizeof hello, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)sizeof hello) close_conn(conn);
}

static void accept_some(int64_t now_ns)
{
    for (int i = 0; i < ACCEPTED_MAX; i++) {
        struct conn *conn = find_place(now_ns);
        int          fd   = conn ? accept4(server.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
        if (fd >= 0) greet(conn, fd, now_ns);
        else if (!conn) pause_accepting(now_ns, 0);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) pause_accepting(now_ns, errno);
        if (fd < 0) return;
    }
}

/* ---- the thread ---- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t stop_by_ns(void)
{
    pthread_mutex_lock(&server.lock);
    int64_t by_ns = server.stop_by_ns;
    pthread_mutex_unlock(&server.lock);
    return by_ns;
}

static bool something_to_send(void)
{
    for (size_t i = 0; i < server.places; i++)
        if (server.conn[i].fd >= 0 && server.conn[i].pe > 0 && server.conn[i].first) return true;
    return false;
}

/* Milliseconds for poll(), and the pollfds. The order: wake, listen, places. */
static int prepare_poll(int64_t now_ns, int64_t stop_ns)
{
    int64_t next_ns = earlier(earlier(server.round_by_ns, server.leave_by_ns), earlier(server.failing_by_ns, stop_ns));
    bool    accepts = server.accept_at_ns <= now_ns;
    if (!accepts) next_ns = earlier(next_ns, server.accept_at_ns);
    server.ready[0] = (struct pollfd){.fd = server.wake_fd, .events = POLLIN};
    server.ready[1] = (struct pollfd){.fd = accepts ? server.listen_fd : -1, .events = POLLIN};
    for (size_t i = 0; i < server.places; i++) {
        const struct conn *conn = &server.conn[i];
        server.ready[i + 2]     = (struct pollfd){.fd = conn->fd, .events = conn->first ? POLLIN | POLLOUT : POLLIN};
        if (conn->fd >= 0 && conn->pe < 0) next_ns = earlier(next_ns, conn->until_ns);
    }
    if (server.ended) next_ns = earlier(now_ns + LAST_WORDS_NS, stop_ns);
    if (next_ns == INT64_MAX) return -1;
    int64_t left_ms = (next_ns - now_ns + 999999) / 1000000;
    return left_ms <= 0 ? 0 : left_ms < INT_MAX ? (int)left_ms : INT_MAX;
}

static void serve_ready(int64_t now_ns)
{
    uint64_t count;
    if (server.ready[0].revents) (void)!read(server.wake_fd, &count, sizeof count);
    for (size_t i = 0; i < server.places; i++) {
        struct conn *conn = &server.conn[i];
        short        what = server.ready[i + 2].revents;
        if (!what || conn->fd != server.ready[i + 2].fd) continue; /* closed meanwhile, perhaps for another */
        if ((what & POLLOUT) && !flush(conn)) continue;
        if (what & ~POLLOUT) read_conn(conn);
    }
    if (server.ready[1].revents) accept_some(now_ns);
}

/* Rank 0 has asked for the end. Is there anybody left to wait for? */
static bool is_finished(int64_t now_ns, int64_t stop_ns)
{
    if (stop_ns == INT64_MAX) return false;
    if (stop_ns <= now_ns) return true;
    if (server.closing || server.ended) return !something_to_send();
    return count_state(PE_LEFT) == server.npes;
}

static void *serve(void *unused)
{
    bool said_bye = false;
    (void)unused;
    for (;;) {
        int64_t now_ns = shmemi_now_ns(), stop_ns = stop_by_ns();
        look_at_clock(now_ns);
        if (server.closing && !said_bye) {
            said_bye                 = true;
            struct uid_frame goodbye = {.kind = UID_BYE};
            send_all(new_blob(&goodbye, sizeof goodbye, NULL, 0));
        }
        if (server.ended && !something_to_send()) {
            pthread_mutex_lock(&server.lock);
            server.told = true;
            pthread_cond_broadcast(&server.changed);
            pthread_mutex_unlock(&server.lock);
        }
        if (is_finished(now_ns, stop_ns)) return NULL;
        if (poll(server.ready, (nfds_t)server.places + 2, prepare_poll(now_ns, stop_ns)) > 0) serve_ready(shmemi_now_ns());
    }
}

/* ---- start and end ---- */

static void release(void)
{
    for (size_t i = 0; i < server.places && server.conn; i++)
        if (server.conn[i].fd >= 0) close_conn(&server.conn[i]);
    if (server.listen_fd >= 0) close(server.listen_fd);
    if (server.wake_fd >= 0) close(server.wake_fd);
    server.listen_fd = server.wake_fd = -1;
    struct conn *conn                 = server.conn;
    server.places                     = 0;
    server.conn                       = NULL;
    free(conn);
    free(server.ready);
    free(server.pe);
    free(server.all);
    server.ready = NULL;
    server.pe    = NULL;
    server.all   = NULL;
}

/* One connection to each PE, some strangers, and what the program needs. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;
    rlim_t        need = (rlim_t)server.npes + STRANGERS_MAX + 256;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= need) return;
    limit.rlim_cur = need < limit.rlim_max ? need : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int prepare(int own_fd)
{
    size_t npes    = (size_t)server.npes;
    size_t places  = 2 * npes + STRANGERS_MAX;
    server.conn    = calloc(places, sizeof *server.conn);
    server.ready   = calloc(places + 2, sizeof *server.ready);
    server.pe      = calloc(npes, sizeof *server.pe);
    server.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!server.conn || !server.ready || !server.pe || server.wake_fd < 0) return server.wake_fd < 0 ? -errno : -ENOMEM;
    for (size_t i = 0; i < places; i++) server.conn[i] = (struct conn){.fd = -1, .pe = -1};
    server.places  = places;
    server.conn[0] = (struct conn){.fd = own_fd, .pe = 0};
    server.pe[0]   = (struct pe){.state = PE_HERE};
    return 0;
}

/* A thread without the program's signals. */
static int start_thread(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&server.thread, NULL, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -err;
}

static void reset(int npes)
{
    pthread_condattr_t monotonic;
    server.npes          = npes;
    server.first_left    = -1;
    server.given         = 0;
    server.ended         = false;
    server.closing       = false;
    server.told          = false;
    server.accept_warned = false;
    server.accept_at_ns  = 0;
    server.leave_by_ns   = INT64_MAX;
    server.failing_by_ns = INT64_MAX;
    server.round_by_ns   = INT64_MAX;
    server.stop_by_ns    = INT64_MAX;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&server.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

int shmemi_uid_server_start(int listen_fd, const uint8_t secret[], int npes, int *fd_out)
{
    int own[2] = {-1, -1};
    assert(!server.running);
    reset(npes);
    server.listen_fd = listen_fd;
    memcpy(server.secret, secret, sizeof server.secret);
    raise_descriptor_limit();

    int err = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, own) == 0 ? 0 : -errno;
    if (!err) err = prepare(own[0]);
    if (!err) err = start_thread();
    if (!err) {
        server.running = true;
        *fd_out        = own[1];
        return 0;
    }
    shmemi_error("could not serve the job on rank 0: %s" WHY "a thread, some sockets and memory for %d PEs are needed" FIX
                 "raise `ulimit -n`, `ulimit -u` or `ulimit -v` on rank 0",
                 strerror(-err), npes);
    if (own[0] >= 0 && !server.places) close(own[0]);
    if (own[1] >= 0) close(own[1]);
    release();
    return err;
}

static void wake(void)
{
    (void)!write(server.wake_fd, &(uint64_t){1}, sizeof(uint64_t));
}

void shmemi_uid_server_stop(int64_t limit_ns)
{
    if (!server.running) return;
    pthread_mutex_lock(&server.lock);
    server.stop_by_ns = limit_ns < 0 ? INT64_MAX - 1 : shmemi_now_ns() + limit_ns;
    pthread_mutex_unlock(&server.lock);
    wake();
    pthread_join(server.thread, NULL);
    char text[80];
    if (!server.ended && !server.closing && list_missing(PE_LEAVING, text, sizeof text) > 0)
        shmemi_warn("%s not out of shmem_finalize yet; rank 0 serves the job no longer", text);
    server.running = false;
    release();
    pthread_cond_destroy(&server.changed);
}

void shmemi_uid_server_await_told(int64_t limit_ns)
{
    if (!server.running) return;
    int64_t         by_ns = shmemi_now_ns() + limit_ns;
    struct timespec by    = {.tv_sec = by_ns / 1000000000, .tv_nsec = by_ns % 1000000000};
    pthread_mutex_lock(&server.lock);
    while (!server.told && pthread_cond_timedwait(&server.changed, &server.lock, &by) == 0) continue;
    pthread_mutex_unlock(&server.lock);
}

void shmemi_uid_server_forked(void)
{
    if (!server.running) return;
    if (server.listen_fd >= 0) close(server.listen_fd);
    if (server.wake_fd >= 0) close(server.wake_fd);
    for (size_t i = 0; i < server.places; i++)
        if (server.conn[i].fd >= 0) close(server.conn[i].fd);
    server.running   = false;
    server.listen_fd = server.wake_fd = -1;
}
