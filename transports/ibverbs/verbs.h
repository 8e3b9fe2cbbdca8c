/* SPDX-License-Identifier: Apache-2.0
 *
 * The ibverbs transport: one-sided RDMA over reliable connections.
 *
 *     device.c topology.c   which device, port and GID
 *     memory.c              registration and keys
 *     peer.c                what is known of each PE: little, until there is a word with it
 *     module.c              probe, open, close, peers, lanes and contexts
 *     connect.c             queue pairs, made on first use by a handshake of datagrams
 *     queue.c               work requests: credits, one doorbell for a chain, completions
 *     usual.c               a small put to a peer that is connected
 *     post.c                all puts and gets
 *     signal.c              puts with a signal
 *     atomic.c              atomics: by the target's CPU, or by the device
 *     message.c             what the target's CPU does: signals in immediates, atomics, acknowledgements
 *     progress.c            receives, fence, quiet, sleep
 *     failure.c             peers that are gone
 *     counters.c            what was done, in numbers
 *
 * A context sends over a *lane*: a send CQ and, for each peer it has talked to, a *link* of one or more queue pairs (POSTERN_QPS). Lane n of
 * one PE is connected to lane n of the other, and both send over the same queue pairs. A lane outlives its context; the next context takes it with
 * its connections. A lane that only the peer's context uses has no owner here, and carries the answers.
 *
 * What the device does alone: writes, reads, and atomics where it is the agent. What needs the target's CPU is *numbered* on its link: each
 * message and each immediate. The target answers with the count of those that it has applied. The first queue pair of a link carries all of
 * them, and they arrive in order.
 *
 * Locks: `verbs.lock` guards what arrives and all connecting; a lane's lock guards its queues and what is under way there. The first is taken
 * before the second; the slots of the data plane take only the second.
 *
 * Contract: transports/transport.h, docs/transports.md.  Tests: tests/transport/, tests/unit/ibverbs_*.c.
 */
#ifndef SHMEMT_IBVERBS_VERBS_H
#define SHMEMT_IBVERBS_VERBS_H

#include "runtime/base/latch.h"
#include "transports/ibverbs/device.h"
#include "transports/ibverbs/memory.h"
#include "transports/ibverbs/peer.h"
#include "transports/mapped.h"
#include "transports/transport.h"

#include <assert.h>
#include <infiniband/verbs.h>

enum {
    COPY_BYTES_MAX = 8192, /* largest put that is copied: inline, or a slot of the ring */
    SLOTS          = 64,   /* of the ring                                                */
    PIECES_MAX     = 32,
    QUEUE_DEPTH    = 256, /* work requests of one queue pair; less where the device has less */
    SIGNAL_EVERY   = 32,  /* requests of which one asks for a completion, in a queue of full depth */
    COMPLETIONS    = 4096,
    INLINE_BYTES   = 220, /* asked for; what the device gives is verbs.inline_bytes           */
    WINDOW         = 64,  /* numbered messages on one link that are not acknowledged          */
    RECEIVES       = 1024,
    DATAGRAMS      = 64, /* receives of the handshake, and as many sends                      */
    QUEUES_MAX     = 8,
    RESULTS        = 256,  /* of atomics by the device, under way in one lane                   */
    LOOPS          = 64,   /* of these, those that the device cannot do in one step              */
    STRIPED        = 16,   /* counted signals on one link that are not acknowledged */
    STRIPE_MIN     = 8192, /* smaller puts are not cut over several queue pairs */
    PORT_COUNTERS  = 9,    /* rows of counters.c                                                   */
    WORDS          = 64,   /* signal words that an immediate can name                            */
};

/*
 * Builds that each break one promise, so that tests show that they would notice (tests/simverbs). The compiler drops what is for another build.
 */
enum broken {
    BREAK_NOTHING,
    BREAK_SIGNAL_QUEUE, /* a signal goes over another queue pair than its data (with several) */
    BREAK_FENCE,        /* a fence does not wait for what has no order                        */
    BREAK_COUNT,        /* a striped signal is applied with its first part                    */
    BREAK_HELD,         /* the device's signal does not wait for data that have no order with it */
    BREAK_LOSE,         /* the device goes on with what was under way to a lost PE             */
};
#ifndef IBVERBS_BREAK
#define IBVERBS_BREAK BREAK_NOTHING
#endif

/* ---- one link ---- */

struct lane;
struct queue;

enum record_kind {
    RECORD_WRITE,
    RECORD_READ,
    RECORD_MESSAGE,
    RECORD_ATOMIC,
    RECORD_LOOP,
    RECORD_SIGNAL,
    RECORD_FLUSH,
    RECORD_ANSWER
};

/* What a work request leaves to do when it completes. */
struct record {
    struct link      *link; /* these two: constant */
    struct queue     *queue;
    enum record_kind  kind;
    uint8_t           segment;
    uint64_t          offset; /* this and bytes: for who reads of an error */
    _Atomic uint32_t *done;
    uint64_t          bytes; /* not beside `offset`: a compiler would read both at once that were stored singly, and the CPU wait */
    void             *slot;  /* of the ring, or of the results */
    struct ib_hold   *hold;
    void             *local; /* READ through a slot, ATOMIC: where the result goes */
    struct loop      *loop;
    struct stripes   *stripes; /* this is one of several parts */
};

/* One queue pair. Positions count work requests from the beginning, round 2^32. */
struct queue {
    struct ibv_qp *qp;
    struct record *records; /* [depth] */
    uint32_t       mask;    /* depth - 1 */
    uint32_t       posted, retired;
    uint32_t       signalled; /* behind the last request that asks for a completion  */
    uint32_t       tail;      /* behind the last one that quiet waits for            */
};

/* A numbered message that has not been acknowledged. */
struct sent {
    uint32_t          number;
    void             *fetch; /* NULL: no value is wanted, or it has come */
    _Atomic uint32_t *done;
    uint8_t           bytes;
};

/* A place that an immediate names by its index. */
struct word {
    uint64_t offset;
    int      segment; /* -1: none */
    uint32_t known;   /* without order: the peer has answered that it knows the word */
};

/* A counted signal at the target: applied once all parts have come, and the message that describes it. */
struct gathered {
    unsigned          seen, wanted; /* parts; wanted: 0 until the message has come. Both 0: the place is free */
    uint32_t          number;       /* of the counted signal, its low 30 bits      */
    uint32_t          position;     /* of the message                              */
    struct shmemt_amo signal;
};

enum link_state {
    LINK_NEW,      /* queue pairs in INIT                                           */
    LINK_ANSWERED, /* can receive and send; the peer may not know                   */
    LINK_READY,    /* the peer can receive                                          */
    LINK_DEAD,     /* the peer is lost; the queue pairs are gone                    */
};

struct link {
    struct lane    *lane;
    int             pe;
    enum link_state state;

    /* Guarded by the lane's lock. */
    struct queue queues[QUEUES_MAX];
    struct link *next_dirty;
    bool         dirty;              /* has something that quiet waits for          */
    uint32_t     next, acknowledged; /* numbered messages to the peer               */
    bool         fenced;             /* those before fence_number come before the next write */
    uint32_t     fence_number;
    int64_t      heard_ns;             /* when silence was last looked at, and          */
    uint32_t     heard;                /* what had been acknowledged then               */
    bool         tail_fenced;          /* with several queue pairs: what is striped waits for the first one */
    uint32_t     fence_tail;           /* to have come so far                                               */
    unsigned     loops;                /* under way, and signals that the device is still to apply */
    unsigned     fetching;             /* values that are wanted and have not come */
    uint32_t     striped;              /* counted signals so far */
    uint32_t     striped_end[STRIPED]; /* behind the message of each of the last; in order only */
    struct sent  sent[WINDOW];
    struct word  words_out[WORDS];
    bool         ended;   /* false: dead, and what was under way has not been counted as done */
    _Atomic bool failing; /* an error has been seen; nothing more is accepted */
    int          error;
    char         why[200];

    /* Guarded by verbs.lock. */
    uint32_t        applied; /* numbered messages from the peer          */
    struct word     words_in[WORDS];
    bool            owes, wanted; /* an acknowledgement; to be connected      */
    struct link    *next_debtor, *next_calling;
    bool            calling;
    struct ibv_ah  *ah;
    uint32_t        psn, their_qpn;
    int64_t         deadline_ns, again_ns, interval_ns;
    unsigned        calls; /* datagrams to the peer */
    uint32_t        answers_begin, answers_end;
    struct gathered gathered[STRIPED];
    unsigned        held; /* of these, messages that wait for parts */
    struct {
        uint64_t value;
        uint32_t number;
    } answers[WINDOW]; /* values that this PE owes the peer */
};

/* ---- lanes and contexts ---- */

/* An atomic that takes the device several steps: read, then compare and swap until it has won. */
struct loop {
    struct link      *link; /* NULL: free */
    struct loop      *next; /* free, or waiting to be posted */
    struct shmemt_amo amo;
    uint64_t          remote; /* address of the 8 bytes that hold the word */
    uint32_t          rkey;
    unsigned          shift;          /* of the word in them, in bits */
    bool              read;           /* `seen` is what the device has read */
    bool              signal;         /* none: a signal that waits for its data */
    uint64_t          seen, proposed; /* all 8 bytes */
};

/* Parts of one put, over several queue pairs or without order: done counts and the signal goes once all have completed. */
struct stripes {
    struct stripes   *next; /* free */
    unsigned          left;
    _Atomic uint32_t *done;
    struct ib_hold   *hold;
    struct loop      *signal; /* NULL: none, or not by the device */
};

struct lane {
    struct verbs       *verbs;
    unsigned            number;
    struct shmemt_ctx  *owner; /* NULL: none; guarded by verbs.lock */
    struct ibv_cq      *cq;
    struct shmemi_latch lock;
    struct link        *dirty;
    uint32_t            in_flight;                   /* work requests; each may become a completion */
    _Atomic uint32_t    awaited;                     /* completions that were asked for. Written with the lock */
    uint32_t            completions, in_flight_max;  /* room for them in the CQ, and what the program may take of it */
    uint64_t            requests, doorbells, polled; /* so far; polled: completions */
    struct ib_ring      ring, results;               /* made on first use */
    struct loop        *loops, *free_loops, *waiting_loops;
    unsigned            active_loops;
    struct stripes      stripes[SLOTS], *free_stripes;
    struct ibv_send_wr  usual; /* a put with all that is the same each time */
    struct ibv_sge      usual_source;
};

struct ib_ctx {
    struct shmemt_ctx ctx;
    struct verbs     *verbs;
    struct lane      *lane;  /* NULL: the progress thread's               */
    unsigned          turns; /* of progress() */
};

/* ---- the transport ---- */

struct verbs {
    struct shmemt            tp;
    const struct shmemt_job *job;
    struct ib_device         device;
    struct ibv_pd           *pd;
    struct ib_memory        *memory;
    struct ibv_comp_channel *channel;
    struct ibv_cq           *receive_cq; /* of all queue pairs, and of the datagrams' sends */
    struct ibv_srq          *srq;
    struct ibv_qp           *ud;
    int                      wait_fd; /* epoll: the channel, and the device's events */
    bool                     nic;     /* the device is the agent */
    int                      npes;
    int                      own_pe;    /* this PE, where its own CPU serves it; -1: the device does */
    bool                     unordered; /* the network keeps no order, not even on one queue pair */
    unsigned                 queues;    /* per link */
    size_t                   stripe_bytes;
    uint8_t                  timeout, retries; /* as ibv_modify_qp takes them */
    unsigned                 connect_s;
    uint32_t                 depth, reserve, signal_every, inline_bytes;
    uint32_t                 receives, datagrams;
    uint64_t                 cookie;

    struct {
        char    *base;
        size_t   bytes;
        bool     host;
        uint32_t rkey;
    } mine[SHMEMT_SEGMENTS_MAX];
    struct peer *peers; /* [npes] */

    struct shmemi_latch lock; /* guards what follows */
    struct ib_ports     ports;
    struct partner     *partners;
    struct lane        *lanes[LANES_MAX];
    struct {
        uint32_t     qpn; /* 0: empty */
        struct link *link;
    } * by_qpn; /* open addressing */
    uint32_t       by_qpn_size, by_qpn_used;
    struct link   *debtors, **debtors_end; /* those that this PE owes an answer   */
    struct link   *calling;                /* those with a handshake under way    */
    char          *buffers;                /* of receives, of datagrams in and out */
    struct ibv_mr *buffers_mr;
    uint64_t       free_datagrams;           /* bits: sends that are free */
    _Atomic bool   failures;                 /* some link is failing: job->failed is to be called */
    char           event[64];                /* the last bad news of the device, or "" */
    uint64_t       received, answered, said; /* messages and immediates; answers to these; datagrams */

    uint64_t port_counters[PORT_COUNTERS]; /* the device's own when it was opened; constant */
};

static inline struct verbs *verbs_of(struct shmemt *tp)
{
    return (struct verbs *)tp;
}

static inline struct ib_ctx *ctx_of(struct shmemt_ctx *ctx)
{
    return (struct ib_ctx *)ctx;
}

/* ---- connect.c ---- */

/* One datagram of the handshake. */
struct ib_hello {
    uint64_t       cookie;
    int32_t        from, to;
    uint8_t        kind, lane, queues, rd_atomic;
    uint32_t       psn;
    uint32_t       qpn[QUEUES_MAX];
    struct ib_told regions[SHMEMT_SEGMENT_USER]; /* those of the start */
};

/*
 * What the rest of the life of this lane to pe needs is under way or there: -EAGAIN; another errno: never, for this segment. Takes verbs.lock.
 */
int  shmemt_ibverbs_connect_start(struct lane *lane, int pe, int segment);
void shmemt_ibverbs_connect_take(struct verbs *verbs, const struct ib_hello *hello); /* one that has come */
void shmemt_ibverbs_connect_look(struct verbs *verbs);                               /* repeat what was not answered */
int  shmemt_ibverbs_connect_open(struct verbs *verbs);                               /* the queue pair of datagrams */
/* Destroy what the device has of it. */
void         shmemt_ibverbs_connect_break(struct link *link);
void         shmemt_ibverbs_connect_destroy_link(struct link *link);
struct link *shmemt_ibverbs_connect_by_qpn(const struct verbs *verbs, uint32_t qpn); /* NULL: none */

/* ---- module.c ---- */

/* The lane of this number, made where it is missing. verbs.lock is held. NULL: no memory, or the device has no CQ left. */
struct lane *shmemt_ibverbs_module_lane(struct verbs *verbs, unsigned number);

/* ---- queue.c ---- */

enum { BATCH_MAX = PIECES_MAX + 3 };

/* Work requests that go out with one doorbell. */
struct batch {
    struct link       *link;
    struct queue      *queue;
    unsigned           count;
    bool               wants_completion;
    struct ibv_send_wr wr[BATCH_MAX];
    struct ibv_sge     sge[BATCH_MAX];
};

static inline void batch_begin(struct batch *batch, struct link *link, unsigned queue)
{
    batch->link             = link;
    batch->queue            = &link->queues[queue];
    batch->count            = 0;
    batch->wants_completion = false;
}

static inline struct record *record_begin(struct record *record, enum record_kind kind)
{
    record->kind    = kind;
    record->done    = NULL;
    record->slot    = NULL;
    record->hold    = NULL;
    record->local   = NULL;
    record->stripes = NULL;
    return record;
}

/* The next request; the caller fills in what its opcode needs. */
static inline struct ibv_send_wr *batch_add(struct batch *batch, enum ibv_wr_opcode opcode, unsigned flags, enum record_kind kind,
                                            struct record **record_out)
{
    struct queue       *queue  = batch->queue;
    struct record      *record = &queue->records[(queue->posted + batch->count) & queue->mask];
    struct ibv_send_wr *wr     = &batch->wr[batch->count];
    assert(batch->count < BATCH_MAX);
    record_begin(record, kind);
    wr->wr_id      = (uintptr_t)record;
    wr->next       = NULL;
    wr->sg_list    = &batch->sge[batch->count];
    wr->num_sge    = 0;
    wr->opcode     = opcode;
    wr->send_flags = flags;
    if (batch->count > 0) batch->wr[batch->count - 1].next = wr;
    batch->count++;
    *record_out = record;
    return wr;
}

static inline void batch_source(struct batch *batch, struct ibv_send_wr *wr, const void *local, size_t bytes, uint32_t lkey)
{
    struct ibv_sge *sge = &batch->sge[wr - batch->wr];
    sge->addr           = (uintptr_t)local;
    sge->length         = (uint32_t)bytes;
    sge->lkey           = lkey;
    wr->num_sge         = 1;
}

static inline uint32_t lane_awaited(const struct lane *lane)
{
    return atomic_load_explicit(&lane->awaited, memory_order_relaxed);
}

/* Not one atomic step: who changes it has the lock, who only looks needs no order. */
static inline void lane_add_awaited(struct lane *lane, uint32_t more)
{
    atomic_store_explicit(&lane->awaited, lane_awaited(lane) + more, memory_order_relaxed);
}

/* May so many requests of the program go out? Some room is kept for answers to the peer. */
static inline bool queue_has_room(const struct link *link, const struct queue *queue, uint32_t requests)
{
    const struct lane *lane = link->lane;
    return queue->posted - queue->retired + requests + lane->verbs->reserve <= queue->mask + 1 &&
           lane->in_flight + requests <= lane->in_flight_max;
}

/*
 * Count requests that are about to be posted: the flag of the last of them, which asks for a completion where one is wanted or due, or 0.
 */
static inline unsigned queue_claim(const struct link *link, struct queue *queue, uint32_t count, bool wants_completion)
{
    struct lane *lane  = link->lane;
    uint32_t     end   = queue->posted + count;
    unsigned     flags = 0;
    bool         idle  = (int32_t)(queue->signalled - queue->retired) <= 0; /* no completion is on its way */
    if (wants_completion || idle || end - queue->signalled >= lane->verbs->signal_every) {
        flags            = IBV_SEND_SIGNALED;
        queue->signalled = end;
        lane_add_awaited(lane, 1);
    }
    queue->posted = end;
    lane->in_flight += count;
    lane->requests += count;
    lane->doorbells++;
    return flags;
}

/* quiet waits for what has been posted so far. */
static inline void queue_tail(struct link *link, struct queue *queue)
{
    queue->tail = queue->posted;
    if (link->dirty) return;
    link->dirty       = true;
    link->next_dirty  = link->lane->dirty;
    link->lane->dirty = link;
}

/* The device has refused requests that were counted: the link fails. */
SHMEMI_COLD void shmemt_ibverbs_queue_refused(struct link *link, int err);
/* 0, or -EAGAIN: there is no room for so many. */
int shmemt_ibverbs_queue_room(struct link *link, struct queue *queue, size_t requests);
/* Ring the doorbell. The batch is accepted, whatever happens: what cannot be posted fails the link. */
void shmemt_ibverbs_queue_post(struct batch *batch);
/* The same for a put: `done` counts at once where its sources have been copied, else with the last request, which comes after all that read them. */
void shmemt_ibverbs_queue_post_put(struct batch *batch, _Atomic uint32_t *done, bool copied);
/* Nothing of it has been posted: give back what its records hold. */
void shmemt_ibverbs_queue_cancel(struct batch *batch);
/* Handle completions of a lane; their number. The lane's lock is held, as for all here. */
int shmemt_ibverbs_queue_poll(struct lane *lane);
/* What was posted before this position has completed; asks for a completion where none is on its way. */
bool shmemt_ibverbs_queue_passed(struct link *link, struct queue *queue, uint32_t position);
/* Where nothing is under way to the peer: an empty write, which fails if the peer is gone. */
void shmemt_ibverbs_queue_ask(struct link *link);
/* All that the program asked of this link has completed; asks for a completion where the last request did not. */
bool shmemt_ibverbs_queue_drained(struct link *link);
/* The lane's completion queue is all spoken for: by requests that asked for no completion, too. Let completions come for them. */
void shmemt_ibverbs_queue_starved(struct lane *lane);
/* The peer is lost: everything under way counts as done. */
void shmemt_ibverbs_queue_end(struct link *link);
/* Nobody wants the results any more. */
void shmemt_ibverbs_queue_forget(struct link *link);

/* ---- usual.c ---- */

void shmemt_ibverbs_usual_prepare(struct lane *lane);
int  shmemt_ibverbs_usual_put(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer); /* the slot */

/* ---- post.c ---- */

int shmemt_ibverbs_post_put(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer); /* any put */
int shmemt_ibverbs_post_get(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer);

/* A PE and a segment for an operation: 0 and both; -ENXIO, -EHOSTDOWN; -ENOTCONN: there was no word with it yet, so connect. */
static inline int post_find(const struct verbs *verbs, int pe, int segment, const struct ib_remote **remote_out)
{
    if (pe < 0 || pe >= verbs->job->npes || segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return -ENXIO;
    const struct partner *partner = peer_partner(&verbs->peers[pe]);
    if (!partner) return -ENOTCONN;
    if (atomic_load_explicit(&partner->lost, memory_order_relaxed)) return -EHOSTDOWN;
    if (!peer_heard(partner)) return -ENOTCONN;
    if (!partner->remotes[segment].known) return -ENXIO;
    *remote_out = &partner->remotes[segment];
    return 0;
}

/* The lane's link to a PE, or NULL. */
static inline struct link *lane_link(const struct lane *lane, int pe)
{
    const struct partner *partner = peer_partner(&lane->verbs->peers[pe]);
    return partner ? partner->links[lane->number] : NULL;
}

/* The link to a PE: 0; -ENOTCONN: not yet; -EHOSTDOWN. */
static inline int post_link(const struct lane *lane, int pe, struct link **link_out)
{
    struct link *link = lane_link(lane, pe);
    if (!link || link->state != LINK_READY) return link && link->state == LINK_DEAD ? -EHOSTDOWN : -ENOTCONN;
    if (atomic_load_explicit(&link->failing, memory_order_relaxed)) return -EHOSTDOWN;
    *link_out = link;
    return 0;
}

/*
 * A write after a fence waits for the numbered messages before it: they are in order until they arrive, but the target's CPU applies them when it
 * comes to it, and a write needs no CPU.
 */
static inline bool post_held_by_fence(struct link *link)
{
    if (!link->fenced) return false;
    if ((int32_t)(link->acknowledged - link->fence_number) < 0) return true;
    link->fenced = false;
    return false;
}

/* Does this PE's CPU do it at once? Only where a CPU is the agent: else words have the device between them and everybody. */
static inline bool post_is_self(const struct verbs *verbs, int pe, int segment)
{
    return pe == verbs->job->my_pe && !verbs->nic && verbs->mine[segment].host && verbs->mine[segment].base;
}

/*
 * Add the pieces of a put to a batch. *copied_out: the sources may be reused at once. 0, -EAGAIN, or another errno; then the caller cancels.
 * The count of pieces that are not empty goes up by their number in the batch.
 */
int shmemt_ibverbs_post_add_puts(struct batch *batch, const struct ib_remote *remote, const struct shmemt_xfer *xfer,
                                 bool *copied_out);

/* Is this cut over the queue pairs? One piece, large, and there are several. */
static inline bool post_is_striped(const struct verbs *verbs, const struct shmemt_xfer *xfer)
{
    return verbs->queues > 1 && xfer->piece_count == 0 && xfer->blocks == 1 && xfer->bytes >= verbs->stripe_bytes &&
           xfer->bytes >= STRIPE_MIN && !(xfer->flags & SHMEMT_XFER_COPY);
}

/* May something striped go to this link now: nothing before a fence is still on the first queue pair, and there is room everywhere? */
int shmemt_ibverbs_post_stripes_ready(struct link *link, unsigned requests);
/*
 * Cut and post it: the number of parts, or a negative errno and nothing has happened. `immediate`: each part is a write that carries this; 0: plain.
 * `signal`: goes when all parts have completed; NULL: none.
 */
int shmemt_ibverbs_post_stripes(struct link *link, const struct ib_remote *remote, const struct shmemt_xfer *xfer,
                                enum ibv_wr_opcode opcode, uint32_t immediate, struct loop *signal);
/* Parts that are about to be posted. There is one: shmemt_ibverbs_post_stripes_ready(). */
struct stripes *shmemt_ibverbs_post_take_stripes(struct lane *lane, unsigned parts, struct loop *signal);

/* ---- signal.c ---- */

int shmemt_ibverbs_signal_put(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal);

/* ---- atomic.c ---- */

int shmemt_ibverbs_atomic_amo(struct shmemt_ctx *ctx, int pe, const struct shmemt_amo *amo);
/* Add what the device does for a signal: a write (SET) or a fetch-add (ADD). -EAGAIN: no slot for the result. */
int shmemt_ibverbs_atomic_add_signal(struct batch *batch, const struct ib_remote *remote, const struct shmemt_amo *signal);
/*
 * A signal that the device applies, where the queue pair does not order it behind its data: it is kept until they have completed. NULL: not now.
 * Then `release`, from count_part(); or `drop`: nothing has been posted.
 */
struct loop *shmemt_ibverbs_atomic_hold_signal(struct link *link, const struct ib_remote *remote, const struct shmemt_amo *signal);
void         shmemt_ibverbs_atomic_release_signal(struct lane *lane, struct loop *loop);
void         shmemt_ibverbs_atomic_drop_signal(struct lane *lane, struct loop *loop); /* also once it has been applied */
/* The device has done one step of a loop; `value` is what was there before. */
void shmemt_ibverbs_atomic_step(struct lane *lane, struct loop *loop, uint64_t value);
/* Post the steps that wait for room. */
int  shmemt_ibverbs_atomic_advance(struct lane *lane);
void shmemt_ibverbs_atomic_end_loops(struct link *link);
void shmemt_ibverbs_atomic_result(void *fetch, unsigned bytes, uint64_t value);

/* ---- message.c ---- */

enum message_kind {
    MESSAGE_AMO,    /* answered with the old value where that is wanted */
    MESSAGE_SIGNAL, /* after the data before it                         */
    MESSAGE_WORD,   /* gives a signal word an index                     */
    MESSAGE_VALUE,  /* not numbered: an answer                          */
};

/* One size for all: 32 bytes go inline on any device. */
struct message {
    uint8_t  kind; /* enum message_kind */
    uint8_t  segment;
    uint8_t  op;     /* enum shmemt_amo_op                                    */
    uint8_t  small;  /* AMO: bytes, WORD: the index, both with MESSAGE_WANTS_VALUE; SIGNAL: parts */
    uint32_t number; /* of this message on its link; VALUE: of the one that it answers, + 1 */
    uint64_t offset;
    uint64_t value;
    uint64_t compare; /* SIGNAL with parts: number of the counted signal; VALUE: count that it acknowledges */
};
static_assert(sizeof(struct message) == 32, "inline on any device");
enum { RECEIVE_BYTES = 64 }; /* a cache line per receive */
enum { MESSAGE_WANTS_VALUE = 0x80 };

/* So many more, at most 2. Without order what is acknowledged is a number of messages, and one that waits for its value may be older than all of them. */
static inline bool message_window_open(const struct link *link, uint32_t messages)
{
    return link->next - link->acknowledged + messages <= WINDOW && !link->sent[link->next % WINDOW].fetch &&
           !link->sent[(link->next + 1) % WINDOW].fetch;
}

/* All that was sent is applied, and its values are here. */
static inline bool message_all_answered(const struct link *link)
{
    return link->acknowledged == link->next && link->fetching == 0;
}

/* Numbered: remembered until it is acknowledged. There is room: message_window_open(). The message stays in place until the batch is posted. */
void shmemt_ibverbs_message_add(struct batch *batch, struct message *message, void *fetch, unsigned bytes, _Atomic uint32_t *done);
/*
 * A signal as 32 bits beside a write. false: its value does not fit. It may add a message that gives its word an index: so call it before the write
 * is added, and keep *word_out until the batch is posted. Two places in the window are needed.
 */
bool shmemt_ibverbs_message_immediate(struct batch *batch, const struct shmemt_amo *signal, struct message *word_out,
                                      uint32_t *immediate_out);
/* The write with the immediate counts as a message. */
void shmemt_ibverbs_message_count(struct link *link);
/* The same without order: only for a word that the peer has told to know. */
bool shmemt_ibverbs_message_known(struct link *link, const struct shmemt_amo *signal, uint32_t *immediate_out);
/* And make it known, where its place in the table is free. The message stays as above. */
void shmemt_ibverbs_message_teach(struct batch *batch, const struct shmemt_amo *signal, struct message *word_out);
/* A part of a counted signal's data has been written. */
uint32_t shmemt_ibverbs_message_part(uint32_t number);
/* A signal as a message: behind its data, or once so many parts have come. */
void shmemt_ibverbs_message_signal(struct batch *batch, const struct shmemt_amo *signal, unsigned parts, uint32_t number,
                                   struct message *message_out);

/* What has come over a link. */
void shmemt_ibverbs_message_serve(struct link *link, const void *data, size_t bytes);
void shmemt_ibverbs_message_serve_immediate(struct link *link, uint32_t immediate);
/* Send what is owed to peers, as far as there is room. */
void shmemt_ibverbs_message_answer(struct verbs *verbs);
void shmemt_ibverbs_message_end(struct link *link); /* the peer is lost */

/* ---- progress.c ---- */

int   shmemt_ibverbs_progress_ctx(struct shmemt_ctx *ctx);
int   shmemt_ibverbs_progress_quiet(struct shmemt_ctx *ctx, int pe);
int   shmemt_ibverbs_progress_fence(struct shmemt_ctx *ctx, int pe);
int   shmemt_ibverbs_progress_arm(struct shmemt_ctx *ctx);
int   shmemt_ibverbs_progress_receive(struct verbs *verbs);                  /* verbs.lock is held */
int   shmemt_ibverbs_progress_open(struct verbs *verbs);                     /* receives and their queue */
char *shmemt_ibverbs_progress_datagram(struct verbs *verbs, unsigned index); /* buffer of one to be sent */

enum {
    DATAGRAM_BYTES = 256, /* 40 of them in front of one that has come are its route */
    TAG_SHIFT      = 32,
};
static_assert(sizeof(struct ib_hello) + 40 <= DATAGRAM_BYTES, "a datagram must fit, and the smallest MTU has 256 bytes");
enum tag { TAG_MESSAGE, TAG_DATAGRAM_IN, TAG_DATAGRAM_OUT }; /* wr_id of receive_cq: tag << TAG_SHIFT | index */

/* ---- counters.c ---- */

void   shmemt_ibverbs_counters_open(struct verbs *verbs);
size_t shmemt_ibverbs_counters_list(struct shmemt *tp, struct shmemt_counter *counters_out, size_t room);

/* ---- failure.c ---- */

int64_t shmemt_ibverbs_failure_now(void);
/* Something is wrong with this link. The lane's lock is held. Only the first word counts. */
void shmemt_ibverbs_failure_note(struct link *link, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Peers that owe an acknowledgement for long: are they there? The lane's lock is held. */
void shmemt_ibverbs_failure_look(struct lane *lane);
/* A request has completed with an error. */
void shmemt_ibverbs_failure_completion(const struct ibv_wc *wc, struct record *record);
/* Call job->failed for those that are failing, and end what was under way to them. A negative errno: there were some. Without locks. */
int  shmemt_ibverbs_failure_tell(struct verbs *verbs);
void shmemt_ibverbs_failure_lose(struct verbs *verbs, int pe); /* verbs.lock is held */
/* Read what the device tells of itself. verbs.lock is held. */
void shmemt_ibverbs_failure_events(struct verbs *verbs);

#endif
