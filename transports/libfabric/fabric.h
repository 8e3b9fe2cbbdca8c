/* SPDX-License-Identifier: Apache-2.0
 *
 * The libfabric transport: one reliable endpoint per PE, which all contexts share.
 *
 *     library.c     libfabric.so.1, loaded when asked for, and what its loading must not change
 *     quick.c       a quick first fi_getinfo
 *     provider.c    which provider, device and address; the traits
 *     memory.c      regions, keys, registration of local buffers
 *     endpoint.c    open and close, peers, contexts
 *     operation.c   the data plane's slots: which way a piece takes
 *     message.c     requests that the target's CPU carries out, and their answers
 *     native.c      atomics by the device (POSTERN_AMO=nic)
 *     progress.c    completions, answers, order, sleeping
 *     failure.c     peers that are gone
 *
 * Two ways lead to a peer. A *write* or *read* is RMA: the provider moves the bytes. A *message* is a request that the target's
 * progress() carries out by CPU: atomics, signals, and small puts and gets where the provider moves bytes by recv() and send(), which may cut a word
 * in two. Each message is acknowledged once it has been applied, by a count that covers all before it. What that gives for order and
 * completion is in progress.c.
 *
 * One lock guards the endpoint and everything here. Contexts of several threads so take turns; a turn is one call of the provider.
 *
 * Contract: transports/transport.h, docs/transports.md.  Tests: tests/transport/.
 */
#ifndef SHMEMT_LIBFABRIC_FABRIC_H
#define SHMEMT_LIBFABRIC_FABRIC_H

#include "transports/transport.h"

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

enum {
    COPY_BYTES_MAX = 8192, /* largest put that is copied: one message, or one slot of the ring                    */
    PIECES_MAX     = 32,
    WINDOW         = 128, /* messages to one peer that are not acknowledged                                       */
    OPS            = 512, /* operations with the provider                                                         */
    SENDS          = 64,  /* buffers of messages that are too large to be injected, and of the ring                */
    RECEIVES       = 128,
};

/* ---- the library (library.c) ---- */

/* The functions that are not inline in its headers. */
struct library {
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                   struct fi_info **info_out);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric_out, void *context);
    const char *(*strerror)(int error);
    uint32_t version; /* of its interface to ask for */
    void    *handle;  /* of dlopen; NULL: somebody else in this program had loaded it before */
};

/* The loaded library, or NULL and why not. It stays loaded. */
const struct library *shmemt_libfabric_library(const char **why_out);
/* fi_getinfo, with the settings that this transport wants where the user has set nothing. */
int shmemt_libfabric_library_getinfo(const struct library *library, const struct fi_info *hints, struct fi_info **info_out);

/* Around the first fi_getinfo of the loaded library. Nobody else may call it meanwhile. (quick.c) */
void shmemt_libfabric_quick_begin(void *handle);
void shmemt_libfabric_quick_end(void);

/* ---- the choice (provider.c) ---- */

/* What POSTERN_FABRIC_MR forces, for tests. */
enum forced {
    FORCE_LOCAL = 1u << 0,
    FORCE_BASIC =
        1u << 1, /* virtual addresses and keys of the provider: libfabric's old FI_MR_BASIC is all that tcp can be asked for */
    FORCE_ENDPOINT  = 1u << 2,
    FORCE_ALLOCATED = 1u << 3,
    FORCE_UNORDERED = 1u << 4, /* as if the provider promised no order between writes and messages */
    FORCE_DEVICE    = 1u << 5, /* as if words that it writes were whole                            */
    FORCE_LAZY      = 1u << 6, /* progress and the target's CPU take their time                    */
};

struct choice {
    const struct library *library;
    struct fi_info       *info; /* the caller's: freeinfo */
    unsigned              forced;
    bool                  ordered;   /* a message, or a write, comes after the writes before it */
    bool                  cpu_words; /* words go by message, as the provider may cut them       */
    char                  detail[120];
};

/* 0; -ENODEV with the reason in detail. */
int  shmemt_libfabric_provider_choose(const struct shmemt_job *job, struct choice *choice_out);
void shmemt_libfabric_provider_traits(const struct shmemt_job *job, const struct choice *choice, struct shmemt_traits *traits_out);
/* A socket address as text for a person, or "". Returns buffer. */
const char *shmemt_libfabric_provider_address(const void *address, size_t bytes, char *buffer, size_t buffer_bytes);

/* ---- objects ---- */

struct fabric_ctx;

enum op_kind { OP_FREE, OP_GROUP, OP_SEND, OP_RECEIVE, OP_WRITE, OP_READ, OP_ATOMIC, OP_FAILED };

/* Something with the provider, or a group of them. */
struct op {
    struct fi_context2 context; /* first: the provider's while posted */
    enum op_kind       kind;
    int                pe;
    size_t             bytes;
    struct op         *next; /* free ones */

    struct fabric_ctx *ctx;   /* counts it; NULL: nobody */
    struct op         *group; /* of a call with several pieces; counts done once all have ended */
    _Atomic uint32_t  *done;
    unsigned           left; /* group: pieces that have not ended */

    struct fid_mr *mr;     /* registered for this operation alone */
    struct buffer *bounce; /* slot of the ring that stands in for local memory */
    void          *local;  /* read through the ring, fetching atomic: where the result goes */

    uint64_t operand, compare, result; /* atomic */
};

/* The ring and the buffers of messages. op is first: a completion leads to the buffer. */
struct buffer {
    struct op op;
    _Alignas(16) unsigned char data[];
};

/* One range of memory that is registered with the endpoint. */
struct registered {
    char          *base;
    size_t         bytes;
    bool           host;
    struct fid_mr *mr;
};

/* A peer's region, as its key says. */
struct remote {
    uint64_t base, key; /* base: what the provider takes for offset 0 */
    uint64_t bytes;
    bool     known, host;
};

/* A message that has not been acknowledged. */
struct sent {
    struct fabric_ctx *ctx;
    struct op         *group;
    _Atomic uint32_t  *done;
    void              *fetch; /* NULL: no answer with a value, or it has come */
    unsigned           fetch_bytes;
};

struct answer {
    uint64_t value;
    uint32_t number;
};

/* What a peer gets its window and answers on first use. Messages are numbered from 0, round 2^32. */
struct traffic {
    struct sent   sent[WINDOW];
    struct answer answers[WINDOW];   /* values that this PE owes the peer */
    int64_t       heard_ns, ping_ns; /* while messages are under way: when it was heard, and last asked */
};

/* Of a peer that does not answer (failure.c). Made when that begins, so that only such peers cost it. */
struct trouble {
    int64_t again_ns; /* since when it is always -FI_EAGAIN; 0: it is not */
    int64_t probe_ns;
    int     probe; /* socket, or -1 */
    int     error;
    char    why[200];
};

/* There is one for each PE of the job from the start, so it is small. */
struct peer {
    fi_addr_t       address;
    struct traffic *traffic; /* NULL: no message yet */
    struct trouble *trouble; /* NULL: none so far    */
    struct peer    *next_debtor;
    uint32_t        next, acknowledged; /* messages to it   */
    uint32_t        applied;            /* messages from it */
    uint32_t        answers_begin, answers_end;
    uint32_t        pong_echo;
    bool            known, lost, failing, removed;
    bool            owes_ack, owes_pong, listed;
};
_Static_assert(sizeof(struct peer) <= 64, "docs/scaling.md says what a PE costs that is never talked to");

/* What one context has under way to one peer. */
struct under_way {
    uint32_t ops, messages;
    bool     unflushed; /* writes that ended here, and that no later message to the peer vouches for */
    bool     fenced;    /* messages up to fence_number come before the next write                     */
    uint32_t fence_number;
};

/* A call of several pieces that has been accepted and is not yet posted whole. */
struct pending {
    bool                active, get, has_signal;
    int                 pe, segment;
    enum shmemt_memory  memory;
    struct op          *group;
    size_t              count, at;
    struct shmemt_piece pieces[PIECES_MAX];
    struct shmemt_amo   signal;
};

struct fabric_ctx {
    struct shmemt_ctx  ctx;
    struct fabric     *fabric;
    struct fabric_ctx *next, **link;             /* link: what points to this one */
    struct under_way  *peers;                    /* [npes] */
    uint32_t           ops, messages, unflushed; /* sums */
    struct pending     pending;
};

struct fabric {
    struct shmemt            tp;
    const struct shmemt_job *job;
    struct choice            choice;
    const struct library    *library;
    struct fi_info          *info;
    struct fid_fabric       *fid;
    struct fid_domain       *domain;
    struct fid_av           *av;
    struct fid_cq           *cq;
    struct fid_ep           *ep;
    int                      wait_fd; /* -1: the provider gives none */
    unsigned                 mr_mode; /* FI_MR_ bits that hold */
    bool                     nic;     /* the device is the agent */
    size_t                   inject_bytes;
    uint32_t                 cookie; /* of the job, in every message */

    pthread_mutex_t    lock;     /* guards all that follows, and the endpoint */
    bool               serviced; /* progress has happened that no caller was told of */
    struct fabric_ctx *contexts;
    unsigned           pending;                      /* contexts with a call that is not yet posted whole */
    struct peer       *peers;                        /* [npes] */
    struct peer       *debtors, **debtors_end;       /* those that this PE owes an answer */
    struct remote     *remotes[SHMEMT_SEGMENTS_MAX]; /* [npes], once something was imported */
    struct registered  mine[SHMEMT_SEGMENTS_MAX];
    struct op         *ops, *free_ops;
    struct buffer     *sends, *free_sends, *receives, *idle_receives; /* idle: to be posted again */
    struct fid_mr     *sends_mr, *receives_mr, *ops_mr;
    uint64_t           local_keys; /* registrations of local memory so far */
    bool               failures;   /* some peer is failing: job->failed is to be called */
    unsigned           looks;
    int64_t            looked_ns;
};

static inline struct fabric *fabric_of(struct shmemt *tp)
{
    return (struct fabric *)tp;
}

static inline struct fabric_ctx *ctx_of(struct shmemt_ctx *ctx)
{
    return (struct fabric_ctx *)ctx;
}

static inline void set_pending(struct fabric_ctx *ctx, bool active)
{
    if (ctx->pending.active == active) return;
    ctx->pending.active = active;
    if (active) ctx->fabric->pending++;
    else ctx->fabric->pending--;
}

/* ---- memory.c ---- */

int            shmemt_libfabric_memory_export(struct shmemt *tp, const struct shmemt_region *mine, struct shmemt_key *key_out);
void           shmemt_libfabric_memory_unexport(struct shmemt *tp, int segment);
int            shmemt_libfabric_memory_import(struct shmemt *tp, int pe, int segment, const struct shmemt_key *key);
struct remote *shmemt_libfabric_memory_remote(struct fabric *fabric, int pe, int segment); /* NULL: none */
int shmemt_libfabric_memory_register(struct fabric *fabric, void *base, size_t bytes, enum shmemt_memory memory, int device,
                                     uint64_t access, uint64_t key, struct fid_mr **mr_out);
/*
 * The descriptor for local memory of an operation: NULL where the provider needs none, that of a registered range, or of a slot of the ring or a
 * registration that end with op. A put's bytes are copied into the slot; *local_io becomes the slot. -EAGAIN: no slot.
 */
int shmemt_libfabric_memory_local(struct fabric *fabric, struct op *op, void **local_io, size_t bytes, enum shmemt_memory memory,
                                  void **descriptor_out);

/* ---- endpoint.c ---- */

struct op     *shmemt_libfabric_endpoint_take_op(struct fabric *fabric, enum op_kind kind, int pe);
void           shmemt_libfabric_endpoint_free_op(struct fabric *fabric, struct op *op);
struct buffer *shmemt_libfabric_endpoint_take_send(struct fabric *fabric);
void           shmemt_libfabric_endpoint_free_send(struct fabric *fabric, struct buffer *buffer);
void           shmemt_libfabric_endpoint_post_receives(struct fabric *fabric);

/* ---- operation.c ---- */

int shmemt_libfabric_operation_put(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer);
int shmemt_libfabric_operation_get(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer);
int shmemt_libfabric_operation_amo(struct shmemt_ctx *ctx, int pe, const struct shmemt_amo *amo);
int shmemt_libfabric_operation_put_signal(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer,
                                          const struct shmemt_amo *signal);
/* Post more of what was accepted. true: nothing is left. */
bool shmemt_libfabric_operation_advance(struct fabric_ctx *ctx);
/* One operation, or piece of one, has ended: count done, or the group. */
void shmemt_libfabric_operation_end(struct fabric *fabric, _Atomic uint32_t *done, struct op *group);

/* ---- message.c ---- */

enum message_kind {
    MESSAGE_PUT,    /* one piece                        */
    MESSAGE_PIECES, /* several                          */
    MESSAGE_LOAD,   /* answered with up to 8 bytes      */
    MESSAGE_AMO,    /* answered with the old value where that is wanted */
    MESSAGE_FLUSH,  /* only to be acknowledged          */
    MESSAGE_ACK,    /* from here on: not numbered       */
    MESSAGE_VALUE,
    MESSAGE_PING,
    MESSAGE_PONG,
};

struct message {
    uint32_t from; /* PE, mixed with the job's cookie: what a stranger sends is no PE */
    uint8_t  kind; /* enum message_kind */
    uint8_t  segment;
    uint8_t  op;     /* AMO: enum shmemt_amo_op; PUT, PIECES: 1 + that of the signal behind the header, 0: none */
    uint8_t  small;  /* AMO, LOAD: bytes, with 0x80: wants the value; PIECES: their number */
    uint64_t offset; /* ACK, VALUE: number of the last message that it answers, + 1; PING: number of the next; PONG: both */
};

struct message_signal {
    uint64_t offset, value;
    uint64_t segment;
};

struct message_piece {
    uint64_t offset, bytes;
};

struct message_operands {
    uint64_t value, compare;
};

enum {
    MESSAGE_BYTES =
        sizeof(struct message) + sizeof(struct message_signal) + PIECES_MAX * sizeof(struct message_piece) + COPY_BYTES_MAX,
};

/* Each: 0, or -EAGAIN and nothing was sent, or another errno and the peer is lost. */
int shmemt_libfabric_message_put(struct fabric_ctx *ctx, int pe, int segment, const struct shmemt_piece *pieces, size_t count,
                                 const struct shmemt_amo *signal);
int shmemt_libfabric_message_load(struct fabric_ctx *ctx, int pe, int segment, const struct shmemt_piece *piece,
                                  _Atomic uint32_t *done, struct op *group);
int shmemt_libfabric_message_amo(struct fabric_ctx *ctx, int pe, const struct shmemt_amo *amo);
int shmemt_libfabric_message_flush(struct fabric_ctx *ctx, int pe);
int shmemt_libfabric_message_ping(struct fabric *fabric, int pe);
/* Do what a message asks for. */
void shmemt_libfabric_message_serve(struct fabric *fabric, const void *data, size_t bytes);
/* Send what is owed to peers, as far as there is room. */
void shmemt_libfabric_message_answer(struct fabric *fabric);

/* Signals in the data that a write carries along. false: this one does not fit. */
bool shmemt_libfabric_message_pack_signal(const struct fabric *fabric, const struct shmemt_amo *signal, uint64_t *data_out);
void shmemt_libfabric_message_apply_signal(struct fabric *fabric, uint64_t data);

/* ---- native.c ---- */

bool shmemt_libfabric_native_usable(const struct shmemt_job *job, const struct choice *choice);
int  shmemt_libfabric_native_amo(struct fabric_ctx *ctx, int pe, const struct remote *remote, const struct shmemt_amo *amo);

/* ---- progress.c ---- */

int shmemt_libfabric_progress_ctx(struct shmemt_ctx *ctx);
int shmemt_libfabric_progress_fence(struct shmemt_ctx *ctx, int pe);
int shmemt_libfabric_progress_quiet(struct shmemt_ctx *ctx, int pe);
int shmemt_libfabric_progress_arm(struct shmemt_ctx *ctx);
/* With the lock. Completions that were handled. */
int shmemt_libfabric_progress_locked(struct fabric *fabric);
/* Nothing, except in tests that want wide gaps between steps (FORCE_LAZY). */
void shmemt_libfabric_progress_linger(const struct fabric *fabric);

/* ---- failure.c ---- */

int64_t shmemt_libfabric_failure_now(void);
/* A call for the peer has answered -FI_EAGAIN (or ended well). Finds out now and then whether there is anybody. */
int shmemt_libfabric_failure_again(struct fabric *fabric, int pe);
/* The provider's answer to a posted call for pe: 0, -EAGAIN, or -EHOSTDOWN once the peer is noted as failing. */
int  shmemt_libfabric_failure_answer(struct fabric *fabric, int pe, ssize_t answer, const char *what);
void shmemt_libfabric_failure_note(struct fabric *fabric, int pe, int error, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Now and then, with the lock: ask peers that have been silent while something is under way to them. */
void shmemt_libfabric_failure_look(struct fabric *fabric);
/* Without the lock: tell the runtime of peers that are failing, then end what is under way to them. */
int shmemt_libfabric_failure_tell(struct fabric *fabric);
/* With the lock: nothing more goes to the peer, and what is under way has ended. */
void shmemt_libfabric_failure_lose(struct fabric *fabric, int pe);

#endif
