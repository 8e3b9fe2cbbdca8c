/* SPDX-License-Identifier: Apache-2.0
 *
 * Peers that are gone.
 *
 * A provider tells of a broken connection in its own ways: an operation ends with an error; or nothing is under way with it, while a
 * message waits for its acknowledgement; or it tries to connect again and again and answers -FI_EAGAIN for ever (ofi_rxm 1.17 does, when nobody
 * listens any more). So: errors are noted at once. A peer that owes an acknowledgement and is silent is asked (PING), which makes the provider
 * notice. And when a peer's -FI_EAGAIN lasts, a plain TCP connection is tried to its address: refused means that the process is gone.
 *
 * A peer that does not answer but whose connection stands is waited for: it may be stopped in a debugger. That is what
 * POSTERN_WAIT_TIMEOUT and the launcher are for.
 */
#include "transports/libfabric/fabric.h"
#include "transports/mapped.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS ((int64_t)1000000)

enum {
    LOOKS_PER_CLOCK = 32,
    LOOK_MS         = 100,
    SILENT_MS       = 200,
    AGAIN_MS        = 300,
    PROBE_EVERY_MS  = 1000,
    PROBE_MS_MAX    = 30000,
    DEBT_MS_MAX     = 5000
};

int64_t shmemt_libfabric_failure_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* NULL: no memory. */
static struct trouble *trouble_of(struct peer *peer)
{
    if (peer->trouble) return peer->trouble;
    peer->trouble = calloc(1, sizeof *peer->trouble);
    if (peer->trouble) peer->trouble->probe = -1;
    return peer->trouble;
}

void shmemt_libfabric_failure_note(struct fabric *fabric, int pe, int error, const char *format, ...)
{
    struct peer *peer = &fabric->peers[pe];
    va_list      args;
    if (peer->lost || peer->failing) return;
    struct trouble *trouble = trouble_of(peer);
    if (trouble) {
        va_start(args, format);
        vsnprintf(trouble->why, sizeof trouble->why, format, args);
        va_end(args);
        trouble->error = error < 0 ? error : -EIO;
    }
    peer->failing    = true;
    fabric->failures = true;
}

/* ---- is anybody there? ---- */

static void end_probe(struct peer *peer)
{
    if (!peer->trouble || peer->trouble->probe < 0) return;
    close(peer->trouble->probe);
    peer->trouble->probe = -1;
}

/* A timeout of connect() itself is one; others are of this machine (no descriptors left, say) and tell nothing of the peer. */
static bool is_verdict(int error)
{
    return error == ECONNREFUSED || error == EHOSTUNREACH || error == ENETUNREACH || error == ETIMEDOUT;
}

/* The provider keeps the address; false: it is none that sockets know, and the provider's word is all there is. */
static bool socket_address(const struct fabric *fabric, int pe, struct sockaddr_storage *address_out, socklen_t *bytes_out)
{
    struct sockaddr_storage address = {0};
    size_t                  bytes   = sizeof address;
    bool                    v4 = fabric->info->addr_format == FI_SOCKADDR_IN, v6 = fabric->info->addr_format == FI_SOCKADDR_IN6;
    if (!v4 && !v6) return false;
    if (fi_av_lookup(fabric->av, fabric->peers[pe].address, &address, &bytes) != 0) return false;
    *address_out = address;
    *bytes_out   = v4 ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    return true;
}

static void judge_peer(struct fabric *fabric, int pe, int error)
{
    struct sockaddr_storage raw;
    socklen_t               bytes;
    char                    text[INET6_ADDRSTRLEN] = "";
    if (!is_verdict(error)) return;
    if (socket_address(fabric, pe, &raw, &bytes)) shmemt_libfabric_provider_address(&raw, bytes, text, sizeof text);
    shmemt_libfabric_failure_note(fabric, pe, -error, "cannot connect to %s: %s%s", text, strerror(error),
                                  error == ECONNREFUSED ? " (its process is gone)" : "");
}

static void start_probe(struct fabric *fabric, int pe, int64_t now)
{
    struct peer            *peer    = &fabric->peers[pe];
    struct trouble         *trouble = peer->trouble;
    struct sockaddr_storage address;
    socklen_t               bytes;
    if (!socket_address(fabric, pe, &address, &bytes)) return;
    trouble->probe_ns = now;
    trouble->probe    = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (trouble->probe < 0) return;
    if (connect(trouble->probe, (const struct sockaddr *)&address, bytes) == 0 || errno == EINPROGRESS) return;
    int error = errno;
    end_probe(peer);
    judge_peer(fabric, pe, error);
}

static void look_at_probe(struct fabric *fabric, int pe, int64_t now)
{
    struct peer  *peer  = &fabric->peers[pe];
    struct pollfd ready = {.fd = peer->trouble->probe, .events = POLLOUT};
    int           error = 0;
    socklen_t     bytes = sizeof error;
    if (poll(&ready, 1, 0) <= 0) {
        if (now - peer->trouble->probe_ns < PROBE_MS_MAX * MS) return;
        error = ETIMEDOUT;
    } else {
        getsockopt(peer->trouble->probe, SOL_SOCKET, SO_ERROR, &error, &bytes);
    }
    end_probe(peer);
    judge_peer(fabric, pe, error);
}

static bool waits_for(const struct peer *peer)
{
    return peer->next != peer->acknowledged;
}

int shmemt_libfabric_failure_again(struct fabric *fabric, int pe)
{
    struct peer    *peer    = &fabric->peers[pe];
    struct trouble *trouble = trouble_of(peer);
    int64_t         now     = shmemt_libfabric_failure_now();
    if (!trouble) return -EAGAIN; /* the caller comes again */
    if (trouble->again_ns == 0) trouble->again_ns = now;
    if (now - trouble->again_ns < AGAIN_MS * MS) return -EAGAIN;
    if (trouble->probe >= 0) look_at_probe(fabric, pe, now);
    else if (now - trouble->probe_ns > PROBE_EVERY_MS * MS) start_probe(fabric, pe, now);
    return peer->failing ? -EHOSTDOWN : -EAGAIN;
}

int shmemt_libfabric_failure_answer(struct fabric *fabric, int pe, ssize_t answer, const char *what)
{
    struct peer *peer = &fabric->peers[pe];
    if (answer == 0) {
        if (peer->trouble) peer->trouble->again_ns = 0;
        end_probe(peer);
        return 0;
    }
    if (answer == -FI_EAGAIN || answer == -FI_ENOMEM) return shmemt_libfabric_failure_again(fabric, pe);
    shmemt_libfabric_failure_note(fabric, pe, (int)answer, "%s: %s (%s)", what, fabric->library->strerror((int)-answer),
                                  fabric->info->fabric_attr->prov_name);
    return -EHOSTDOWN;
}

void shmemt_libfabric_failure_look(struct fabric *fabric)
{
    if (++fabric->looks % LOOKS_PER_CLOCK != 0) return; /* reading the clock costs as much as an idle turn of progress() */
    int64_t now = shmemt_libfabric_failure_now();
    if (now - fabric->looked_ns < LOOK_MS * MS) return;
    fabric->looked_ns = now;
    for (int pe = 0; pe < fabric->job->npes; pe++) {
        struct peer *peer = &fabric->peers[pe];
        if (peer->lost || peer->failing || !waits_for(peer)) continue;
        /* Rarer the longer it lasts: a stopped peer does not find its queue full of questions. */
        struct traffic *traffic = peer->traffic;
        int64_t         silent = now - traffic->heard_ns, asked = now - traffic->ping_ns;
        if (silent > SILENT_MS * MS && (traffic->ping_ns == 0 || asked > silent / 4)) {
            if (shmemt_libfabric_message_ping(fabric, pe) == 0) traffic->ping_ns = now;
        }
    }
}

/* ---- the end of a peer ---- */

static void end_messages(struct fabric *fabric, struct peer *peer)
{
    int pe = (int)(peer - fabric->peers);
    for (; peer->acknowledged != peer->next; peer->acknowledged++) {
        struct sent *sent = &peer->traffic->sent[peer->acknowledged % WINDOW];
        if (sent->ctx) {
            sent->ctx->messages--;
            sent->ctx->peers[pe].messages--;
            if (sent->done || sent->group) shmemt_libfabric_operation_end(fabric, sent->done, sent->group);
        }
        *sent = (struct sent){0};
    }
}

/* Those that are still with the provider belong to nobody from here on. */
static void end_ops(struct fabric *fabric, int pe)
{
    for (size_t i = 0; i < OPS; i++) {
        struct op *op     = &fabric->ops[i];
        bool       posted = op->kind == OP_WRITE || op->kind == OP_READ || op->kind == OP_ATOMIC;
        if (op->pe != pe || !(posted || op->kind == OP_FAILED)) continue;
        _Atomic uint32_t *done  = op->done;
        struct op        *group = op->group;
        if (op->ctx) op->ctx->ops--, op->ctx->peers[pe].ops--;
        op->ctx   = NULL;
        op->done  = NULL;
        op->group = NULL;
        if (op->kind == OP_FAILED) shmemt_libfabric_endpoint_free_op(fabric, op);
        shmemt_libfabric_operation_end(fabric, done, group);
    }
}

void shmemt_libfabric_failure_lose(struct fabric *fabric, int pe)
{
    struct peer *peer  = &fabric->peers[pe];
    bool         first = !peer->removed;
    peer->lost         = true;
    peer->failing      = false;
    peer->removed      = true;
    peer->owes_ack = peer->owes_pong = false;
    peer->answers_begin              = peer->answers_end;
    end_probe(peer);
    /* Closes the connection, where there is one (FI_AV_REMOVE_CLEANUP), so that the provider lets go of local memory. */
    if (first && peer->known && pe != fabric->job->my_pe) fi_av_remove(fabric->av, &peer->address, 1, 0);
    for (struct fabric_ctx *ctx = fabric->contexts; ctx; ctx = ctx->next) {
        if (ctx->peers[pe].unflushed) ctx->peers[pe].unflushed = false, ctx->unflushed--;
        if (ctx->pending.active && ctx->pending.pe == pe) shmemt_libfabric_operation_advance(ctx); /* finds it lost, and lets go */
    }
    if (peer->traffic) end_messages(fabric, peer);
    if (first) shmemt_libfabric_progress_locked(fabric); /* what the closing has ended */
    end_ops(fabric, pe);
}

/* One that is failing: told about by this call alone. */
static int take_failing(struct fabric *fabric)
{
    for (int pe = 0; pe < fabric->job->npes; pe++) {
        struct peer *peer = &fabric->peers[pe];
        if (!peer->failing) continue;
        peer->failing = false;
        peer->lost    = true; /* nothing more is accepted; what is under way ends after the call */
        return pe;
    }
    fabric->failures = false;
    return -1;
}

int shmemt_libfabric_failure_tell(struct fabric *fabric)
{
    const struct shmemt_job *job = fabric->job;
    int                      err = 0, pe;
    for (;;) {
        struct trouble told = {.error = -EIO, .why = "for a reason that there was no memory to keep"};
        pthread_mutex_lock(&fabric->lock);
        pe = take_failing(fabric);
        if (pe >= 0 && fabric->peers[pe].trouble) told = *fabric->peers[pe].trouble;
        pthread_mutex_unlock(&fabric->lock);
        if (pe < 0) return err;
        if (job->failed) job->failed(pe, told.error, told.why); /* without the lock: the runtime may end the job from here */
        err = -EHOSTDOWN;
        pthread_mutex_lock(&fabric->lock);
        shmemt_libfabric_failure_lose(fabric, pe);
        pthread_mutex_unlock(&fabric->lock);
    }
}
