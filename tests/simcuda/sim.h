/* SPDX-License-Identifier: Apache-2.0
 *
 * The stand-in for the CUDA driver: what its files share. README.md says what it is, what it refuses and which variables it reads.
 *
 * "Device memory" is a memfd, mapped twice: at the address that the program knows, and at an alias that only this library uses. So the
 * program's own mapping can be without access (SIMCUDA_PROTECT=1), and a CPU that touches device memory faults as it must.
 *
 * One lock (sim.lock) guards all tables. Work on streams runs on a thread for each stream, without the lock.
 */
#ifndef SIMCUDA_SIM_H
#define SIMCUDA_SIM_H

#include "runtime/base/cuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SIM_DEVICES_MAX     = 16,
    SIM_STACK_MAX       = 32, /* contexts pushed by one thread */
    SIM_MULTIPROCESSORS = 4,  /* of a device: few, so that limits are met early */
    SIM_BLOCKS_MAX      = 8,  /* on a multiprocessor */
};
#define SIM_GRANULARITY ((size_t)2 << 20)

struct CUctx_st {
    int      device;
    int      retained;
    unsigned peers;  /* bit i: access to the context of device i is enabled */
    unsigned broken; /* what work on a stream has run into: every later call answers it */
};

/* One allocation of device memory. Freed when neither a handle nor a mapping is left. */
struct sim_memory {
    struct sim_memory *next;
    int                fd, device, handles, mappings;
    unsigned           handle_types;
    bool               rdma_capable, is_imported;
    size_t             bytes;
    shmemi_cu_memory   handle; /* 0: of cuMemAlloc, which has none */
};

enum sim_kind { SIM_DEVICE, SIM_MAPPED, SIM_HOST, SIM_REGISTERED, SIM_GLOBAL };

/* Addresses that the driver knows. */
struct sim_range {
    struct sim_range  *next;
    enum sim_kind      kind;
    uintptr_t          base;
    size_t             bytes;
    char              *alias;  /* the same bytes, for us */
    int                device; /* where the memory is; of host memory, who asked for it */
    unsigned           access; /* bit i: device i may (SIM_MAPPED) */
    unsigned long long id;
    int                busy; /* copies under way: it may not go */
    bool               sync_memops;
    struct sim_memory *memory;
    struct CUctx_st   *context;
};

struct sim_reservation {
    struct sim_reservation *next;
    uintptr_t               base;
    size_t                  bytes;
};

struct sim_op {
    struct sim_op *next;
    unsigned (*run)(struct sim_op *op);
    const char         *name;
    struct CUstream_st *stream;
    uint64_t            number;
    /* It may begin when these streams have come so far. */
    struct sim_wait {
        struct CUstream_st *stream;
        uint64_t            number;
    } * waits;
    size_t waits_count;
    /* What it does; which of these count depends on run. */
    shmemi_cu_pointer dest, source;
    size_t            bytes, rows, dest_pitch, source_pitch;
    uint64_t          value;
    unsigned          width, flags;
    void (*function)(void *);
    void             *argument;
    struct CUfunc_st *kernel;
    unsigned          grid[3], block[3];
    void            **arguments;
    uint64_t         *values;
};

struct CUstream_st {
    struct CUstream_st *next;
    struct CUctx_st    *context;
    struct sim_op      *first, **last;
    uint64_t            submitted, completed;
    unsigned            flags;
    bool                is_legacy, is_destroyed, is_hidden, has_thread;
    pthread_cond_t      work;
    pthread_t           thread;
    uint64_t            random;
};

struct CUevent_st {
    struct CUevent_st  *next;
    struct CUctx_st    *context;
    struct CUstream_st *stream; /* NULL: not recorded */
    uint64_t            number;
};

struct sim {
    pthread_mutex_t         lock;
    pthread_cond_t          completed;
    bool                    is_initialised, protect, has_p2p;
    int                     devices, version;
    unsigned long long      seed;
    size_t                  memory_bytes, used_bytes[SIM_DEVICES_MAX];
    struct CUctx_st         contexts[SIM_DEVICES_MAX];
    struct sim_memory      *memories;
    struct sim_range       *ranges;
    struct sim_reservation *reservations;
    struct CUstream_st     *streams;
    struct CUevent_st      *events;
    struct CUmod_st        *modules;
    unsigned long long      ids;
};
extern struct sim sim;

/* ---- the entry points; that each is there, with these types, the compiler sees ---- */

#define SHMEMI_CUDA(SLOT, SYMBOL, PARAMETERS) unsigned SYMBOL PARAMETERS;
#include "runtime/base/cuda.def"
#undef SHMEMI_CUDA

/* ---- start.c ---- */

/* The first thing in each entry point. Answers what a failing call returns: injected, not initialised, not allowed here. */
unsigned sim_enter(const char *name);
unsigned sim_enter_early(const char *name); /* before cuInit, too */
#define SIM_ENTER()                              \
    do {                                         \
        unsigned refused_ = sim_enter(__func__); \
        if (refused_) return refused_;           \
    } while (0)

/* Print what the program has done wrong, and return result. */
unsigned sim_misuse(unsigned result, const char *name, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define SIM_MISUSE(result, ...) sim_misuse(result, __func__, __VA_ARGS__)

/* True in a function of cuLaunchHostFunc, where no call of the driver is allowed. */
extern _Thread_local bool sim_in_host_function;

/* ---- device.c ---- */

/* The calling thread's context, or NULL after a message: INVALID_CONTEXT. A context that work has broken: *result_out says by what. */
struct CUctx_st *sim_context(const char *name, unsigned *result_out);
bool             sim_is_device(int device);
bool             sim_is_context(const struct CUctx_st *context);
bool             sim_can_access(int device, int peer);
#define SIM_CONTEXT(context)                                                    \
    unsigned         context_result_ = 0;                                       \
    struct CUctx_st *context         = sim_context(__func__, &context_result_); \
    if (!context || context_result_) return context_result_

/* ---- memory.c, virtual.c; sim.lock is held ---- */

struct sim_range  *sim_range_of(uintptr_t address);
struct sim_memory *sim_memory_create(int device, size_t bytes, unsigned handle_types);
void               sim_memory_drop(struct sim_memory *memory); /* frees it where nothing is left of it */
/* Map memory at base (NULL: anywhere) for the program, and an alias for us. NULL: no room. */
struct sim_range *sim_range_map(enum sim_kind kind, void *base, struct sim_memory *memory, struct CUctx_st *context);
void              sim_range_remove(struct sim_range *range); /* and its mappings */
void              sim_range_unlink(struct sim_range *range);
struct sim_range *sim_range_add(enum sim_kind kind, uintptr_t base, size_t bytes, char *alias);
bool              sim_is_mapped(uintptr_t base, size_t bytes); /* by anybody in this process */

/* ---- copy.c ---- */

/*
 * The bytes at address as this library may touch them, for a device that wants to: up to *bytes_inout of them in one piece. Marks the range as
 * busy; sim_done gives it back. NULL after a message. Takes the lock.
 */
char *sim_touch(const char *name, const struct CUctx_st *context, uintptr_t address, size_t *bytes_inout,
                struct sim_range **range_out);
void  sim_done(struct sim_range *range);

/* ---- stream.c ---- */

/* The stream of a handle (also the two special ones), or NULL after a message. sim.lock is held. */
struct CUstream_st *sim_stream(const char *name, shmemi_cu_stream handle, struct CUctx_st *context);
/* Put op in; takes what it needs from a copy on the stack. Takes the lock. wait: until it is done. */
unsigned sim_submit(const struct sim_op *op, shmemi_cu_stream stream, bool wait);
/* Work that is not done yet begins in this range. */
bool sim_is_queued(uintptr_t base, size_t bytes);
void sim_streams_report(void);
void sim_modules_report(void);

/* ---- kernels.c ---- */

typedef void (*sim_kernel_fn)(void **arguments);
sim_kernel_fn sim_kernel(const char *name); /* NULL: none of this name */

#endif
