/* SPDX-License-Identifier: Apache-2.0
 *
 * From a unique id to a connection that has been let in.
 *
 * All addresses of the id are tried at once, since nobody knows which of them lead to rank 0 from here: some belong to networks that this
 * machine does not have, or has under the same numbers. The first that says hello as only rank 0 would is taken. A connection may stay silent
 * for long: until rank 0 comes to shmemx_init_attr, the kernel alone answers there.
 */
#include "runtime/bootstrap/uid.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define AGAIN_NS 100000000
enum { AGAIN_MAX = 20 };

/* One address that is tried. fd -1: it has failed, with err, for good where again_ns is INT64_MAX. */
struct attempt {
    const union uid_address *address;
    int                      fd, err;
    bool                     connected;
    int                      times;    /* that it was tried                                     */
    int64_t                  again_ns; /* when to try again                                     */
    size_t                   got;      /* bytes of hello                                        */
    struct uid_hello         hello;
};

struct joining {
    const struct uid_parsed *id;
    int                      pe, npes;
    int64_t                  deadline_ns;
    double                   limit_s;
    struct attempt           attempt[UID_ADDRESSES_MAX];
};

void shmemi_uid_join_tune(int fd)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    /* 4 s of silence, then 3 probes: a machine that lost power or network is noticed after 10 s. The kernel answers for a stopped process. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){4}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){2}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){3}, sizeof(int));
}

void shmemi_uid_join_tag(const uint8_t secret[], struct uid_proof *proof, const char *what, uint8_t tag_out[])
{
    memset(proof->what, 0, sizeof proof->what);
    memcpy(proof->what, what, strlen(what));
    shmemi_uid_mac(secret, proof, sizeof *proof, tag_out);
}

/*
 * A connection that was open and broke may have been rank 0's, which lets strangers wait for so long only: try again for a while. If rank 0 is
 * gone, that is refused.
 */
static void give_up(struct attempt *attempt, int err)
{
    bool again = err == -ECONNRESET && attempt->connected && ++attempt->times < AGAIN_MAX;
    if (attempt->fd >= 0) close(attempt->fd);
    attempt->fd        = -1;
    attempt->err       = err;
    attempt->connected = false;
    attempt->again_ns  = again ? shmemi_now_ns() + AGAIN_NS : INT64_MAX;
}

/* Milliseconds for poll(): up to the deadline, rounded up. */
static int poll_ms(int64_t deadline_ns)
{
    if (deadline_ns < 0) return -1;
    int64_t left_ms = (deadline_ns - shmemi_now_ns() + 999999) / 1000000;
    return left_ms <= 0 ? 0 : left_ms < INT_MAX ? (int)left_ms : INT_MAX; /* 24 days */
}

/* ---- messages ---- */

static int say_refused(const struct joining *join, enum uid_verdict verdict, uint32_t npes)
{
    switch (verdict) {
    case UID_WRONG_NPES:
        shmemi_error("rank %d of %d cannot join the job" WHY "rank 0 has started it for %u PEs" FIX "pass the same npes to all",
                     join->pe, join->npes, npes);
        return -EINVAL;
    case UID_TAKEN:
        shmemi_error("rank %d of %d cannot join the job" WHY "another process has joined it as rank %d" FIX
                     "give each process a rank of its own, and each job a unique id of its own",
                     join->pe, join->npes, join->pe);
        return -EEXIST;
    default:
        shmemi_error("rank %d of %d cannot join the job" WHY "the job of this unique id is ending, or could not start" FIX
                     "see what rank 0 says; start again with a new unique id",
                     join->pe, join->npes);
        return -ECONNREFUSED;
    }
}

/* No attempt is left. The most telling error of all is the result. */
static int say_unreachable(const struct joining *join)
{
    char   list[512], text[UID_ADDRESS_TEXT_BYTES];
    size_t used = 0;
    int    err  = -EHOSTUNREACH;
    list[0]     = '\0';
    for (int i = 0; i < join->id->count && used < sizeof list; i++) {
        const struct attempt *attempt = &join->attempt[i];
        if (attempt->err == -EACCES) err = -EACCES;
        else if (err != -EACCES && attempt->err != -ENETUNREACH && attempt->err != -EAFNOSUPPORT) err = attempt->err;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s: %s", i ? "; " : "",
                                 shmemi_uid_id_show(attempt->address, text), strerror(-attempt->err));
    }
    if (err == -EACCES)
        shmemi_error("rank %d of %d cannot join the job" WHY "rank 0 does not know the secret of this unique id" FIX
                     "carry the id of this very job to all processes; an id is good for one job",
                     join->pe, join->npes);
    else if (join->id->count == 0)
        shmemi_error("could not reach rank 0" WHY "the machine that made the unique id has no network, and this is another one" FIX
                     "set POSTERN_UID_ADDRESS there");
    else
        shmemi_error(
            "could not reach rank 0" WHY "%s" FIX
            "see whether the process that made the unique id still runs (an id is good for one job), and whether a firewall is"
            " between; POSTERN_UID_ADDRESS there chooses another address",
            list);
    return err;
}

static int say_late(const struct joining *join)
{
    char text[UID_ADDRESS_TEXT_BYTES];
    for (int i = 0; i < join->id->count; i++) {
        const struct attempt *attempt = &join->attempt[i];
        if (attempt->fd < 0 || !attempt->connected) continue;
        shmemi_error("PE 0 has not answered within %g s" WHY
                     "%s is open, so the process that made the unique id is there, but it is not in"
                     " shmemx_init_attr" FIX "see what holds it up; timeout_s or POSTERN_INIT_TIMEOUT sets the limit",
                     join->limit_s, shmemi_uid_id_show(attempt->address, text));
        return -ETIMEDOUT;
    }
    shmemi_error("could not reach rank 0 within %g s" WHY "none of its addresses answers, %s for one" FIX
                 "see whether a firewall is between; POSTERN_UID_ADDRESS on rank 0 chooses another address",
                 join->limit_s, join->id->count > 0 ? shmemi_uid_id_show(&join->id->address[0], text) : "?");
    return -ETIMEDOUT;
}

/* ---- the proof ---- */

/* All bytes, or -ETIMEDOUT, -ECONNRESET. */
static int receive(int fd, void *data, size_t bytes, int64_t deadline_ns)
{
    char *at = data;
    while (bytes > 0) {
        ssize_t got = recv(fd, at, bytes, MSG_DONTWAIT);
        if (got > 0) {
            at += got;
            bytes -= (size_t)got;
        } else if (got < 0 && errno == EAGAIN) {
            struct pollfd ready = {.fd = fd, .events = POLLIN};
            if (poll(&ready, 1, poll_ms(deadline_ns)) == 0) return -ETIMEDOUT;
        } else if (got == 0 || errno != EINTR) {
            return -ECONNRESET;
        }
    }
    return 0;
}

/*
 * The hello of this attempt is complete. 0: joined. -EAGAIN: that was not rank 0 of this job, or it does not know the secret; the attempt is given
 * up. Another negative errno after an error message: it was, and says no.
 */
static int prove(struct joining *join, struct attempt *attempt)
{
    const uint8_t     *secret = join->id->secret;
    struct uid_welcome welcome;
    struct uid_join    mine  = {.pe = (uint32_t)join->pe, .npes = (uint32_t)join->npes};
    struct uid_proof   proof = {.pe = mine.pe, .npes = mine.npes};
    uint8_t            tag[SHMEMI_UID_MAC_BYTES];

    memcpy(mine.magic, UID_MAGIC, sizeof mine.magic);
    if (memcmp(attempt->hello.magic, UID_MAGIC, UID_MAGIC_BYTES) != 0 ||
        getrandom(mine.nonce, sizeof mine.nonce, 0) != sizeof mine.nonce) {
        give_up(attempt, -EPROTO);
        return -EAGAIN;
    }
    memcpy(proof.server_nonce, attempt->hello.nonce, UID_NONCE_BYTES);
    memcpy(proof.client_nonce, mine.nonce, UID_NONCE_BYTES);
    shmemi_uid_join_tag(secret, &proof, "join", mine.tag);

    /* A new connection has room for so few bytes. */
    int err = send(attempt->fd, &mine, sizeof mine, MSG_NOSIGNAL) == (ssize_t)sizeof mine ? 0 : -ECONNRESET;
    if (!err) err = receive(attempt->fd, &welcome, sizeof welcome, join->deadline_ns);
    if (err == -ETIMEDOUT) return say_late(join);
    if (!err && welcome.verdict == UID_WRONG_SECRET) err = -EACCES;
    if (!err) {
        proof.verdict = welcome.verdict;
        shmemi_uid_join_tag(secret, &proof, "welcome", tag);
        if (!shmemi_uid_mac_equal(tag, welcome.tag)) err = -EPROTO;
    }
    if (!err) return welcome.verdict == UID_WELCOME ? 0 : say_refused(join, welcome.verdict, welcome.npes);
    give_up(attempt, err);
    return -EAGAIN;
}

/* ---- trying ---- */

static void begin(struct attempt *attempt)
{
    const union uid_address *address = attempt->address;
    attempt->got                     = 0;
    attempt->fd                      = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (attempt->fd < 0) {
        give_up(attempt, -errno);
        return;
    }
    socklen_t bytes = address->any.sa_family == AF_INET ? sizeof address->v4 : sizeof address->v6;
    if (connect(attempt->fd, &address->any, bytes) == 0) attempt->connected = true;
    else if (errno != EINPROGRESS) give_up(attempt, -errno);
}

/* Something has happened at this attempt. 0: it has joined; -EAGAIN: not yet, or given up; else as prove(). */
static int go_on(struct joining *join, struct attempt *attempt)
{
    if (!attempt->connected) {
        int       err   = 0;
        socklen_t bytes = sizeof err;
        if (getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0) err = errno;
        if (err) give_up(attempt, -err);
        else attempt->connected = true;
        return -EAGAIN;
    }
    ssize_t got = recv(attempt->fd, (char *)&attempt->hello + attempt->got, sizeof attempt->hello - attempt->got, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return -EAGAIN;
    if (got <= 0) {
        give_up(attempt, -ECONNRESET);
        return -EAGAIN;
    }
    attempt->got += (size_t)got;
    return attempt->got == sizeof attempt->hello ? prove(join, attempt) : -EAGAIN;
}

/* The pollfds of all attempts, those again begun that are due; *until_ns is when the next one is. False: none has hope left. */
static bool prepare_poll(struct joining *join, struct pollfd ready[], int64_t *until_ns)
{
    bool hope = false;
    *until_ns = join->deadline_ns < 0 ? INT64_MAX : join->deadline_ns;
    for (int i = 0; i < join->id->count; i++) {
        struct attempt *attempt = &join->attempt[i];
        if (attempt->fd < 0 && attempt->again_ns <= shmemi_now_ns()) begin(attempt);
        if (attempt->fd < 0 && attempt->again_ns < *until_ns) *until_ns = attempt->again_ns;
        if (attempt->fd >= 0 || attempt->again_ns != INT64_MAX) hope = true;
        ready[i] = (struct pollfd){.fd = attempt->fd, .events = attempt->connected ? POLLIN : POLLOUT}; /* fd < 0 is passed over */
    }
    return hope;
}

/* Until one attempt has joined: its socket to *fd_out. */
static int try_all(struct joining *join, int *fd_out)
{
    for (;;) {
        struct pollfd ready[UID_ADDRESSES_MAX];
        int64_t       until_ns;
        if (!prepare_poll(join, ready, &until_ns)) return say_unreachable(join);
        int count = poll(ready, (nfds_t)join->id->count, poll_ms(until_ns == INT64_MAX ? -1 : until_ns));
        for (int i = 0; i < join->id->count && count > 0; i++) {
            if (!ready[i].revents || join->attempt[i].fd < 0) continue;
            int err = go_on(join, &join->attempt[i]);
            if (err == -EAGAIN) continue;
            if (err) return err;
            *fd_out             = join->attempt[i].fd;
            join->attempt[i].fd = -1;
            return 0;
        }
        if (join->deadline_ns >= 0 && shmemi_now_ns() >= join->deadline_ns) return say_late(join);
    }
}

int shmemi_uid_join(const struct uid_parsed *id, int pe, int npes, int64_t deadline_ns, double limit_s, int *fd_out)
{
    struct joining join = {.id = id, .pe = pe, .npes = npes, .deadline_ns = deadline_ns, .limit_s = limit_s};
    assert(id->count <= UID_ADDRESSES_MAX);
    for (int i = 0; i < id->count; i++) {
        join.attempt[i].address = &id->address[i];
        begin(&join.attempt[i]);
    }
    int fd  = -1;
    int err = try_all(&join, &fd);
    for (int i = 0; i < id->count; i++)
        if (join.attempt[i].fd >= 0) close(join.attempt[i].fd);
    if (err) return err;
    shmemi_uid_join_tune(fd);
    *fd_out = fd;
    return 0;
}
