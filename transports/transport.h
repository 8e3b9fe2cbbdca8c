/* SPDX-License-Identifier: Apache-2.0
 *
 * The one interface between the runtime and what moves bytes. docs/transports.md explains how to write one and how each
 * slot maps to ibverbs; tests/transport/ runs one list of checks over every transport.
 *
 * A remote address is always (PE, segment, offset). The runtime asks a transport for mapped access first (map): where it
 * answers with an address, puts, gets and atomics are plain CPU instructions and no other data-plane slot is called.
 * Otherwise operations are *posted*: put, get, amo, put_signal on a context of the transport.
 *
 * Control plane (probe .. ctx_close): one thread at a time. May block, allocate and log.
 * Data plane (put .. progress): the thread that owns the context, or threads that the runtime serialises on it; different
 * contexts of one transport run in parallel. Never blocks, allocates or logs; only the first use of a peer (connect) and of
 * local memory not seen before (register) may take system calls. 0: accepted. -EAGAIN: queue full; the
 * caller runs progress() and calls again with the same arguments. Another negative errno: the operation
 * cannot be done, now or later, and nothing of it has happened: -EHOSTDOWN (the PE is lost), -ENXIO (nothing imported for
 * this PE and segment), -ERANGE (outside the region), -EINVAL (against this contract).
 */
#ifndef SHMEMT_TRANSPORT_H
#define SHMEMT_TRANSPORT_H

#include <stdbool.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define SHMEMT_VERSION 2

/* Guarantees the runtime builds on. Each has its own test in tests/transport/. */
enum shmemt_cap {
    SHMEMT_CAP_MAP_HOST  = 1u << 0, /* map() can answer for host segments: this CPU loads and stores the peer's memory */
    SHMEMT_CAP_MAP_GPU   = 1u << 1, /* the same for GPU segments, from this GPU                                       */
    SHMEMT_CAP_POSTED    = 1u << 2, /* put, get, quiet and fence work                                                 */
    SHMEMT_CAP_AMO       = 1u << 3, /* amo() works, for sizes 4 and 8, all operations                                  */
    SHMEMT_CAP_AMO_CPU   = 1u << 4, /* amo() is atomic with the target CPU's own atomics                               */
    SHMEMT_CAP_PUT_ORDER = 1u << 5, /* puts of one context to one PE become visible in call order                      */
    SHMEMT_CAP_PROGRESS  = 1u << 6, /* accepted operations complete while neither side calls progress()                */
};

/* Symmetric memory, by what it is. Numbers from SHMEMT_SEGMENT_USER on are regions registered later. */
enum shmemt_segment_id {
    SHMEMT_SEGMENT_CTRL, /* the library's own words: barrier lines, sleep state */
    SHMEMT_SEGMENT_DATA, /* static objects of the executable                    */
    SHMEMT_SEGMENT_HEAP, /* the symmetric heap                                  */
    SHMEMT_SEGMENT_GPU,  /* the symmetric GPU heap                              */
    SHMEMT_SEGMENT_USER,
};
enum { SHMEMT_SEGMENTS_MAX = 16 };

enum shmemt_memory { SHMEMT_MEMORY_HOST, SHMEMT_MEMORY_CUDA };

/* One contiguous range of this PE's memory that others may reach. */
struct shmemt_region {
    int                segment; /* enum shmemt_segment_id                                      */
    enum shmemt_memory memory;
    void              *base;  /* as this PE addresses it                                     */
    size_t             bytes; /* 0: this PE has none                                         */
    int                fd;    /* the file behind it (memfd, dma-buf), or -1; the runtime's    */
    uint64_t           fd_offset;
    int                device; /* number of the GPU whose memory it is; 0 for host memory      */
    void              *alias;  /* where this PE has the same bytes too, all of them; NULL: nowhere. Operations may name either. */
};

/* What a peer needs in order to reach a region: opaque to the runtime, carried by the start-up exchange. */
struct shmemt_key {
    uint32_t      bytes;     /* used part of data */
    unsigned char data[124]; /* a CUDA fabric handle alone takes 64 */
};

/* An endpoint address of this PE, one per PE and not per pair; same carriage. */
struct shmemt_address {
    uint32_t      bytes;
    unsigned char data[124];
};

/*
 * Shape of a bulk operation. Exactly one of the three is used; the two others are zero. The bytes of an operation land and are read in
 * any order, except that a piece of 2, 4 or 8 bytes at a remote address that is aligned to its size is never seen in part: the sizes that
 * programs wait on (deprecated waits on short words too).
 */
struct shmemt_piece {
    void    *local;
    uint64_t remote_offset;
    size_t   bytes;
};

enum shmemt_xfer_flag {
    /* The caller reuses local memory as soon as put returns 0. Only with a total of at most traits.copy_bytes_max. */
    SHMEMT_XFER_COPY = 1u << 0,
};

struct shmemt_xfer {
    int                segment;
    unsigned           flags;
    enum shmemt_memory local_memory;

    /* 1. contiguous: blocks == 1.  2. strided: blocks > 1 pieces of `bytes`, at these distances from start to start. */
    void     *local;
    uint64_t  remote_offset;
    size_t    bytes;
    size_t    blocks;
    ptrdiff_t local_stride, remote_stride;

    /* 3. vectored: a list of pieces, which stays in place until the operation is accepted. */
    const struct shmemt_piece *pieces;
    size_t                     piece_count;

    /*
     * If not NULL: increased by 1 (release order) once local memory may be reused (put), holds the data (get), or
     * holds the fetched value (amo). Perhaps only inside progress() of this context. The word stays in place until then.
     */
    _Atomic uint32_t *done;
};

enum shmemt_amo_op {
    SHMEMT_AMO_FETCH, /* fetching only */
    SHMEMT_AMO_SET,   /* with fetch: swap */
    SHMEMT_AMO_CSWAP,
    SHMEMT_AMO_ADD,
    SHMEMT_AMO_AND,
    SHMEMT_AMO_OR,
    SHMEMT_AMO_XOR,
};

struct shmemt_amo {
    int                segment;
    uint64_t           remote_offset; /* aligned to bytes                                          */
    enum shmemt_amo_op op;
    unsigned           bytes;   /* 4 or 8                                                    */
    uint64_t           value;   /* low bytes count; host order                               */
    uint64_t           compare; /* CSWAP                                                     */
    void              *fetch;   /* `bytes` long, receives the old value; NULL: not wanted     */
    _Atomic uint32_t  *done;    /* as in shmemt_xfer; required where fetch is given, else NULL or counted at the initiator */
};

/* Who changes a word that amo() or a signal names. A word has one agent, or updates get lost (docs/transports.md). */
enum shmemt_agent {
    SHMEMT_AGENT_CPU, /* a CPU: directly, or the target's progress on a message. Atomic with CPU atomics. */
    SHMEMT_AGENT_NIC, /* the NIC, for words of the own PE too. AMO_CPU tells whether CPU atomics meet it. */
};

/* The job as a transport sees it: constant from open to close. */
struct shmemt_job {
    int      my_pe, npes;
    uint64_t secret;
    /* Memory of this node's PEs, mapped by the runtime: segment s of local PE i begins at base + i * stride; NULL: none. */
    struct {
        char  *base;
        size_t stride;
        size_t bytes;
    } node_map[SHMEMT_SEGMENTS_MAX];
    const int *local_of; /* [npes] index of a PE on this node, or -1 */
    int        local_pes;
    /* A PE of this node may sleep on memory that the transport has just changed by CPU stores. Any thread. */
    void (*wake)(int local, const void *address_here, size_t bytes);
    /*
     * The way to a PE has failed (error < 0, why: one line for a person). Called once per PE, from progress() or a thread of
     * the transport, before the done words of operations that it failed are increased. NULL: not wanted.
     */
    void (*failed)(int pe, int error, const char *why);
    /* Who executes amo() and the signals of put_signal(), on all PEs alike: one of traits.agents, agreed between probe and open. */
    enum shmemt_agent agent;
};

/* Filled by probe. */
struct shmemt_traits {
    unsigned caps;           /* enum shmemt_cap                                        */
    size_t   copy_bytes_max; /* largest put with SHMEMT_XFER_COPY                       */
    size_t   bytes_max;      /* largest single piece; the runtime cuts above it         */
    size_t   pieces_max;     /* pieces or blocks per call; the runtime cuts above it     */
    unsigned agents;         /* 1u << enum shmemt_agent: which it can use; 0: the CPU   */
    char     detail[120];    /* for the report: device, port, rate, ...                 */
    bool     silent;         /* peers' writes land without wake() and progress() > 0    */
    char     near_cpus[256]; /* those of the PE's CPUs that are near the device, as "0-3,8"; "": all alike, or not known */
};

/* Each transport's own struct begins with these. */
struct shmemt {
    const struct shmemt_ops *ops;
    struct shmemt_traits     traits;
};
struct shmemt_ctx {
    struct shmemt *tp;
};

enum { SHMEMT_ALL_PES = -1 };

enum shmemt_ctx_option {
    SHMEMT_CTX_SERIALIZED = 1u << 0,
    SHMEMT_CTX_PRIVATE    = 1u << 1,
    SHMEMT_CTX_NOSTORE    = 1u << 2,
    /*
     * The progress thread's own context, opened where CAP_PROGRESS is missing: its progress() also moves on the accepted
     * operations of all other contexts, and arm() covers them. The transport locks what that shares.
     */
    SHMEMT_CTX_SERVICE = 1u << 3,
};

/* One number that a transport counts. */
struct shmemt_counter {
    const char *name; /* lower case, digits and _; constant */
    uint64_t    value;
};
enum { SHMEMT_COUNTERS_MAX = 32 };

struct shmemt_ops {
    uint32_t    version; /* SHMEMT_VERSION when compiled; the registry refuses others */
    const char *name;    /* as written in POSTERN_TRANSPORTS, e.g. "ibverbs"            */

    /* ---- control plane ---- */

    /* Can this transport work here? 0 and the traits; -ENODEV or another errno with the reason in traits_out->detail. */
    int (*probe)(const struct shmemt_job *job, struct shmemt_traits *traits_out);
    int (*open)(const struct shmemt_job *job, struct shmemt **tp_out);
    void (*close)(struct shmemt *tp); /* bounded, also with dead peers; contexts are closed before */

    /* [optional] This PE's endpoint address, for the second exchange. Default: empty. */
    int (*address)(struct shmemt *tp, struct shmemt_address *address_out);
    /* [optional] Remember how to reach a PE. Connects on first use, not here. -EHOSTUNREACH: this transport cannot serve the PE. */
    int (*add_peer)(struct shmemt *tp, int pe, const struct shmemt_address *address);
    /* [optional] The PE is lost: fail what is under way to it and accept no more (-EHOSTDOWN). Idempotent. */
    void (*lose_peer)(struct shmemt *tp, int pe);

    /*
     * Make my region reachable / take that back. A region of 0 bytes is legal. import: a key of 0 bytes forgets what was
     * imported; -EHOSTUNREACH: this transport cannot serve the PE.
     */
    int (*export_region)(struct shmemt *tp, const struct shmemt_region *mine, struct shmemt_key *key_out);
    void (*unexport_region)(struct shmemt *tp, int segment);
    int (*import_region)(struct shmemt *tp, int pe, int segment, const struct shmemt_key *key);

    /* [optional] Address in this process of (pe, segment, offset 0), or NULL: not mapped, post instead. Default: NULL. */
    void *(*map)(struct shmemt *tp, int pe, int segment);

    int (*ctx_open)(struct shmemt *tp, unsigned options, struct shmemt_ctx **ctx_out);
    void (*ctx_close)(struct shmemt_ctx *ctx); /* after a quiet */

    /* ---- data plane ---- */

    int (*put)(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer);
    int (*get)(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer);
    int (*amo)(struct shmemt_ctx *ctx, int pe, const struct shmemt_amo *amo);

    /*
     * [optional] Put, then update the signal word (SET or ADD, 8 bytes) so that it is visible only after all of the put. One
     * operation: accepted whole or not at all. signal->fetch is NULL and signal->done ignored: xfer->done tells when the source may be reused.
     * Default: -ENOSYS; the runtime then puts, fences and posts the amo.
     */
    int (*put_signal)(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal);

    /*
     * Puts and amos to pe (or SHMEMT_ALL_PES) accepted after the fence become visible after those accepted before it. 0: arranged (it
     * need not wait). -EAGAIN: not yet; call progress() and again.
     */
    int (*fence)(struct shmemt_ctx *ctx, int pe);

    /*
     * 0: everything accepted for pe (or SHMEMT_ALL_PES) is done, and visible to all PEs. -EAGAIN: not yet; call progress() and again.
     * What was for a lost PE counts as done; -EHOSTDOWN where pe is that PE.
     */
    int (*quiet)(struct shmemt_ctx *ctx, int pe);

    /*
     * Move things on, and serve what arrives from peers (signals, atomics of the CPU agent). >0: something completed. 0: nothing to
     * do now. A negative errno: a peer or the device failed (job->failed says which).
     */
    int (*progress)(struct shmemt_ctx *ctx);

    /*
     * [optional] Before a thread sleeps in the kernel: a descriptor that becomes readable when progress() has work, armed once. -EAGAIN:
     * not now, there is work that no descriptor will announce; the runtime sleeps in short steps until there is none. -1: never, so it always does.
     * After arming, call progress() once more before sleeping. Default: -1.
     */
    int (*arm)(struct shmemt_ctx *ctx);

    /* ---- numbers, for who measures ---- */

    /* [optional] What was counted so far, into at most `room` places; how many. Any thread, may take locks. Default: 0. */
    size_t (*counters)(struct shmemt *tp, struct shmemt_counter *counters_out, size_t room);
};

/* What a module exports: transport_NAME.so has one symbol, `shmemt_module`. */
typedef const struct shmemt_ops *shmemt_module_fn(void);
#define SHMEMT_MODULE_SYMBOL "shmemt_module"

/* ---- registry.c ---- */

/*
 * Fill `list` with the transports to try, by preference: the built-in ones and modules found in `path`
 * (folders with colons between; NULL: none), restricted to and ordered by `names` (commas between; NULL: all built in).
 * An unknown name, a module of another version or one without a required slot is an error that has been logged
 * (-EINVAL). Optional slots are filled with defaults, so that the caller never tests for NULL.
 */
enum { SHMEMT_REGISTRY_MAX = 8 };
struct shmemt_registry {
    size_t            count;
    struct shmemt_ops ops[SHMEMT_REGISTRY_MAX];
    void             *module[SHMEMT_REGISTRY_MAX]; /* dlopen handle, or NULL */
};
int  shmemt_registry_open(const char *names, const char *path, struct shmemt_registry *registry_out);
void shmemt_registry_close(struct shmemt_registry *registry);

extern const struct shmemt_ops shmemt_shm_ops;

#endif
