/* SPDX-License-Identifier: Apache-2.0
 *
 * The one process-wide struct, and the control block that every PE shows to its node.
 *
 * The first lines of the struct are what a put reads. They are written by init and finalize only. Whatever asks for more than
 * the plain path (checked mode, statistics, writers that must fence, posted routes, other executables) makes
 * init leave map_count or data_bytes at 0 there, so that the plain path fails its one compare and the careful path
 * (route.c) takes over: features that are off cost nothing.
 *
 * Design: docs/architecture.md "The life of a put".
 */
#ifndef SHMEMI_STATE_H
#define SHMEMI_STATE_H

#include "runtime/base/attr.h"
#include "runtime/base/latch.h"
#include "runtime/base/options.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/data.h"
#include "runtime/pages.h"
#include "transports/transport.h"

#include <pshmem.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rounds of a dissemination barrier: enough for 2^24 PEs. */
enum { SHMEMI_ROUNDS_MAX = 24 };

/*
 * Meeting places of teams. Each team has one slot, with the same number on all its members, in segment CTRL behind the control block.
 * A box carries a small message and the number of the collective it belongs to; it has one writer at a time (coll.h tells why).
 */
enum { SHMEMI_BOX_BYTES = 120, SHMEMI_FLAT_MAX = 8, SHMEMI_ONEWAY_BOXES = 8 };

struct shmemi_box {
    SHMEMI_LINE _Atomic uint64_t seq;
    char                         bytes[SHMEMI_BOX_BYTES];
};

struct shmemi_slot {
    SHMEMI_LINE _Atomic uint64_t central_arrived; /* central barrier: used in the slot of the team's first member only */
    SHMEMI_LINE _Atomic uint64_t central_epoch;
    SHMEMI_LINE _Atomic uint64_t done;                        /* how often others have told that they are done with my memory */
    struct shmemi_box            flat[2][SHMEMI_FLAT_MAX];    /* from each member of a small team     */
    struct shmemi_box            oneway[SHMEMI_ONEWAY_BOXES]; /* from whoever sends in this direction */
    struct shmemi_round {
        SHMEMI_LINE _Atomic uint64_t arrived; /* dissemination: written by the member 2^round before */
        _Atomic uint64_t             note[2]; /* on the same line, so they cost nothing: see shmemi_sync_barrier_with() */
        struct shmemi_box            box[2];
    } round[]; /* shmemi_state.slot_rounds of them: log2 of the number of PEs, and two to fold other numbers to a power of two */
};

enum { SHMEMI_SLOT_WORLD, SHMEMI_SLOT_SHARED, SHMEMI_SLOT_FIRST_FREE };

/* One heap call as a PE made it, for the comparison with its neighbour. */
struct shmemi_heap_call {
    _Atomic uint64_t sequence; /* number of this call; 0: none yet          */
    _Atomic uint64_t hash;     /* of all calls up to this one               */
    _Atomic uint32_t kind;     /* enum heap_call_kind in heap.c             */
    _Atomic uint32_t unused;
    _Atomic uint64_t first, second; /* its arguments; pointers as offsets    */
};

#define SHMEMI_WATCH(segment) (1u << (segment))
#define SHMEMI_WATCH_NOTHING  (1u << 31) /* sleeps, but not on symmetric memory */

/*
 * Control block of one PE: segment CTRL. Shared by all PEs of the node, zero at start.
 * Each part has lines of its own: the sleep line is read by every writer and must stay in their caches.
 */
struct shmemi_ctrl {
    /* Heap calls: two slots, so that the neighbour may be one call ahead while we read. */
    SHMEMI_LINE struct shmemi_heap_call heap_call[2];
    _Atomic uint64_t heap_failed[2]; /* sequence of a call for which some PE has no pages; two for the same reason */

    /*
     * Sleep. Owner: sets the range, then asleep: one bit for each segment that has watched words, so that bulk puts to the heap of a PE
     * that waits in a barrier need not look further. Writers: read asleep after their store; if their segment's bit is set and
     * their store touches the range, they clear it, increase wake_count and wake. Positions are shmemi_route_position().
     * Not at the start of the page: a CPU tells loads from earlier stores by the low 12 bits first, and so many a target lies there that the
     * look would often wait for the store before it.
     */
    SHMEMI_LINE _Atomic uint32_t asleep;     /* SHMEMI_WATCH() of segments */
    _Atomic uint32_t             wake_count; /* futex word */
    _Atomic uint64_t             watch_first, watch_last;
};

/* A set of PEs. Member i is world PE start + i * stride, or, where a list is given, the PE at that place of the list. */
struct shmemi_team {
    int        size, me;
    int        start, stride;
    const int *list;   /* the node's PEs, or NULL                                                         */
    int        slot;   /* meeting place, the same on all members; -1: none (one member, or an active set) */
    bool       mapped; /* all members map each other                                                      */
    bool       central;
    long      *psync;        /* active set: meets in the caller's array                                         */
    int        num_contexts; /* as asked for at creation; only a wish                                           */

    /* Counters of the calling thread: two threads are never in collectives of one team at once. All members count alike. */
    uint64_t epoch;       /* synchronizations */
    uint64_t full;        /* collectives in which each member hears from all */
    uint64_t oneway;      /* others */
    unsigned oneway_left; /* how many of these may follow without a synchronization */

    bool                alive;       /* false: destroyed; its place is kept for a later team, so that a stale handle is seen */
    struct shmemi_team *next, *prev; /* all teams that the program has made, or all places kept */
};

enum { SHMEMI_TRANSPORTS_MAX = SHMEMT_REGISTRY_MAX };

/* An independent stream of operations. */
struct shmemi_ctx {
    const struct shmemi_team *team;
    bool                      world;                         /* PE numbers are world numbers: no translation         */
    bool                      locked;                        /* several threads may be on it: slots are called under the lock */
    long                      options;                       /* SHMEM_CTX_*                                            */
    struct shmemi_latch       lock;                          /* guards the slot calls, never held while waiting        */
    struct shmemt_ctx        *posted[SHMEMI_TRANSPORTS_MAX]; /* NULL: transport has no posted side */
    _Atomic uint32_t          ignored;                       /* where completions go that only quiet waits for         */
    pthread_t                 owner;                         /* PRIVATE: checked mode compares                         */
    bool                      session;                       /* session.c: begun and not stopped; under `lock`, with its: */
    long                      session_options;               /* SHMEM_CTX_SESSION_*                                    */
    size_t                    session_total_ops;             /* SIZE_MAX: not said                                     */
    struct shmemi_ctx        *next, *prev;                   /* all contexts of the process */
};

/* What was done to one PE, and by which path; only with POSTERN_STATS. */
enum shmemi_counted { SHMEMI_COUNT_PUT, SHMEMI_COUNT_GET, SHMEMI_COUNT_AMO, SHMEMI_COUNT_SIGNAL, SHMEMI_COUNTED };
enum { SHMEMI_PATH_POSTED, SHMEMI_PATH_MAPPED, SHMEMI_PATHS };
struct shmemi_peer_counters {
    _Atomic uint64_t calls[SHMEMI_PATHS][SHMEMI_COUNTED], bytes[SHMEMI_PATHS][SHMEMI_COUNTED];
};

enum { SHMEMI_NOT_MAPPED = -1 };

/* How this PE reaches another. */
struct shmemi_peer {
    int8_t mapped;    /* transport whose mapping is used, or -1                      */
    int8_t posted;    /* transport that posts, or -1                                 */
    bool   same_data; /* runs the same executable: static objects correspond          */
    bool   posts_gpu; /* the transport that posts has registered its GPU heap         */
    int    local;     /* index on this node, or -1                                   */
    int    node;      /* number of its node, 0 to node_count - 1                     */
};

enum { SHMEMI_HOST_BYTES = 64 };

struct shmemi_state {
    /* ---- read by every put; see the head of this file ---- */
    SHMEMI_LINE uintptr_t heap_base; /* my heap                                       */
    size_t                heap_bytes;
    char                 *heap_map; /* heap of the node's first PE, in my address space */
    size_t                heap_stride;
    unsigned              map_first; /* PEs map_first ... map_first + map_count - 1 are mapped, in the node's order */
    unsigned              map_count;
    char                 *ctrl_map;
    size_t                ctrl_stride;
    SHMEMI_LINE uintptr_t data_base; /* my static objects                             */
    size_t                data_bytes;
    char                 *data_map;
    size_t                data_stride;
    size_t                copy_large_bytes; /* copies from this size on are done by shmemi_rma_copy_large() */
    int                   my_pe, npes;
    bool                  posted;           /* some route is posted: waits call progress                     */
    bool                  silent_writers;   /* some writers never look whether this PE sleeps */
    size_t                post_small_bytes; /* puts up to this size may take the short way to a posted PE; 0: none may */

    /* ---- the rest ---- */
    SHMEMI_LINE bool writers_fence; /* no membarrier: a writer fences before it looks at `asleep`      */
    bool             check, stats, same_data_everywhere, crowded;
    bool             careful_words; /* a word that is waited for may not be looked at as it is: checked mode, or memory of a GPU */
    bool             gpu;           /* there is a GPU heap: any operand may be memory of a GPU (runtime/gpu/) */
    bool             same_transports; /* all PEs opened the same: they choose alike */
    bool             check_calls;     /* all PEs check: they compare their collective calls */
    bool             device;          /* some PE has code for kernels (device.h)            */
    int              thread_level;
    pid_t            pid;
    _Atomic int      init_count;                                   /* unmatched inits */
    int64_t          spin_ns, yield_ns, sleep_ns, wait_timeout_ns; /* the first two: before a wait sleeps */

    struct shmemb *boot;
    uint64_t       nonce;      /* of this PE: names its socket */
    int            node_count; /* nodes are numbered in the order of their first PEs */

    struct shmemi_node_layout {
        int    count, me; /* PEs of this node; my index                                     */
        int   *pes;       /* [count] world numbers                                          */
        int   *local_of;  /* [npes] index or -1                                             */
        int    node_fd;   /* control pages and static data                                  */
        int    heap_fd;
        size_t ctrl_bytes, data_bytes; /* of the whole node                                   */
        char  *node_base;              /* mapping of node_fd                                 */
        size_t node_bytes;
        char  *heap_reserved; /* mapping of heap_fd with its alignment                       */
        size_t heap_reserved_bytes;
        size_t page_bytes;      /* of the heap                                              */
        size_t heap_file_bytes; /* of one heap, in whole pages; the stride is that of addresses */
        size_t heap_alignment;  /* of each heap's address, the same on all PEs: the most shmem_align can give */
    } node;

    uintptr_t          own_data_base; /* as data_base/data_bytes, but always filled            */
    size_t             own_data_bytes;
    size_t             all_heap_bytes; /* as heap_bytes, but always filled                     */
    uintptr_t          all_heap_base;
    uintptr_t          gpu_base; /* my GPU heap */
    size_t             gpu_bytes;
    struct shmemi_data data;

    struct shmemi_peer *peers;        /* [npes] */
    struct shmemi_card *cards;        /* [npes]: what each PE told (init.c); NULL after start-up, unless executables differ */
    char (*hosts)[SHMEMI_HOST_BYTES]; /* [node_count]: where the first PE of each node runs; NULL during start-up */
    struct shmemt_job      job;
    struct shmemt_registry registry;
    size_t                 transport_count;
    struct shmemt         *transports[SHMEMI_TRANSPORTS_MAX];

    struct shmemi_ctrl *ctrl;       /* mine                                                     */
    size_t              ctrl_bytes; /* of one PE: control block and slots                        */
    size_t              slot_bytes;
    int                 slot_count, slot_rounds;

    struct shmemi_team  world, shared;
    struct shmemi_team *team_list; /* those made by the program */
    struct shmemi_ctx   ctx_default;
    struct shmemi_ctx  *ctx_list;

    struct shmemi_peer_counters *peer_counters; /* [npes] with POSTERN_STATS, else NULL */
    struct shmemi_counters {
        _Atomic uint64_t sleeps, wakes, posted_ops, retries;
        _Atomic uint64_t unwoken; /* sleeps that ended by their bound although the word had changed */
    } counters;
};

extern struct shmemi_state shmemi_state;

/* Control block of a PE of this node. */
static inline struct shmemi_ctrl *shmemi_state_ctrl(unsigned local)
{
    return (struct shmemi_ctrl *)(void *)(shmemi_state.ctrl_map + (size_t)local * shmemi_state.ctrl_stride);
}

/* From a control block to a slot in it. */
static inline size_t shmemi_state_slot_offset(int slot)
{
    return sizeof(struct shmemi_ctrl) + (size_t)slot * shmemi_state.slot_bytes;
}

/* Does this PE post to `pe` over that transport? Where the network device executes the atomics, it posts them to mapped PEs too. */
static inline bool shmemi_state_posts(int pe, int transport)
{
    const struct shmemi_peer *peer = &shmemi_state.peers[pe];
    return peer->posted == transport && (peer->mapped < 0 || shmemi_state.job.agent == SHMEMT_AGENT_NIC);
}

/* Between init and the last finalize. */
static inline bool shmemi_state_running(void)
{
    return atomic_load_explicit(&shmemi_state.init_count, memory_order_relaxed) > 0;
}

/* mapped: by this CPU's own loads and stores. */
static inline void shmemi_state_count(int world_pe, enum shmemi_counted what, bool mapped, size_t bytes)
{
    struct shmemi_peer_counters *counters = shmemi_state.peer_counters;
    int                          path     = mapped ? SHMEMI_PATH_MAPPED : SHMEMI_PATH_POSTED;
    if (SHMEMI_LIKELY(!counters)) return;
    atomic_fetch_add_explicit(&counters[world_pe].calls[path][what], 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&counters[world_pe].bytes[path][what], bytes, memory_order_relaxed);
}

#endif
