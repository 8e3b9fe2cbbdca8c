/* SPDX-License-Identifier: Apache-2.0
 *
 * The conformance list: what every transport promises (transports/transport.h), each promise checked by a small program of
 * one to three PEs that knows nothing of the transport but its table.
 *
 *     conformance TRANSPORT [--path FOLDERS] [--pes N] [--seed S] [--only TEXT] [--threads] [--cpu-stores]
 *                 [--remote] [--nic] [--dying] [--must-catch NAME]
 *
 * PEs are processes that share one mapping (fork), or with --threads threads of one process, so that ThreadSanitizer sees all
 * of them. With --remote the transport is told of no memory that PEs share. With --nic the device is the agent. With --dying the last PE (a
 * process) dies in the check that --only names. A check is a function that all PEs call together; its name is the promise. Every check gets a transport that
 * was opened for it, and memory filled with FRESH bytes. Every wait has a guard: a check fails, it does not hang.
 */
#ifndef SHMEMT_HARNESS_H
#define SHMEMT_HARNESS_H

#include "transports/transport.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PES_MAX    = 8,
    HEAP_BYTES = 192 << 10,
    DATA_BYTES = 16 << 10,
    FRESH      = 0x5a,                /* what untouched symmetric memory holds */
    EMPTY      = SHMEMT_SEGMENT_USER, /* a segment of 0 bytes */
};

/* One PE, as a check sees it. */
struct pe {
    int                      me, npes;
    int                      next, previous; /* the PEs this one sends to and hears from, where a check needs just one */
    const struct shmemt_ops *ops;
    struct shmemt_job        job;
    int                      local_of[PES_MAX];
    struct shmemt           *tp;
    struct shmemt_ctx       *ctx;
    struct shmemt_ctx       *service; /* of a thread that serves the others, where the transport needs one */
    pthread_t                service_thread;
    _Atomic bool             service_stop, service_pause; /* a check may hold the service for a while */
    unsigned                 caps;
    bool                     cpu_stores; /* the transport changes memory by CPU stores, so wake() is owed for all of them */
    uint64_t                 random;
    const char              *check;
    bool                     failed;
};

struct check {
    const char *name;
    void (*run)(struct pe *pe);
    unsigned caps; /* skipped on transports without these */
    int      pes_min;
    bool     cpu_stores;
};
#define CHECK_NAMED(function, ...)                      \
    {                                                   \
        .name = #function, .run = function, __VA_ARGS__ \
    } /* at least .caps */

/* Each ends with a row without a name. */
extern const struct check checks_control[], checks_put[], checks_get[], checks_amo[], checks_order[], checks_signal[],
    checks_threads[], checks_dying[];

/* ---- failing ---- */

void harness_fail(struct pe *pe, const char *file, int line, const char *format, ...) __attribute__((format(printf, 4, 5)));

#define EXPECT(pe, condition)                                                              \
    do {                                                                                   \
        if (!(condition)) harness_fail(pe, __FILE__, __LINE__, "%s is false", #condition); \
    } while (0)
#define EXPECT_EQ(pe, got, wanted)                                                                                               \
    do {                                                                                                                         \
        long long got_ = (long long)(got), wanted_ = (long long)(wanted);                                                        \
        if (got_ != wanted_)                                                                                                     \
            harness_fail(pe, __FILE__, __LINE__, "%s is %lld (0x%llx), not %lld (0x%llx)", #got, got_, (unsigned long long)got_, \
                         wanted_, (unsigned long long)wanted_);                                                                  \
    } while (0)
/* Two ranges of memory hold the same; shows the first difference. */
#define EXPECT_SAME(pe, got, wanted, bytes) harness_same(pe, __FILE__, __LINE__, #got, got, wanted, bytes)
void harness_same(struct pe *pe, const char *file, int line, const char *what, const void *got, const void *wanted, size_t bytes);

/* ---- memory ---- */

/* Symmetric memory of any PE. A check reads its own; the peer's only where a CPU mapping is what it checks. */
char *harness_memory(struct pe *pe, int who, int segment);

/* Content that tells where it came from. */
void     harness_fill(void *memory, size_t bytes, unsigned tag);
uint64_t harness_draw(struct pe *pe);

/* An 8-byte word of another thread or PE, as a waiting program reads it. */
uint64_t harness_read(const void *word);
void     harness_write(void *word, uint64_t value);

/* ---- PEs among themselves, without the transport ---- */

void harness_barrier(struct pe *pe);

/* Ends this process as kill -9 does. The others do not come to a barrier before they know of it. */
void harness_die(struct pe *pe);
/* How often, on all PEs together, the transport has said that the way to this PE has failed. */
int harness_failures(struct pe *pe, int who);

/* Words that all PEs share and that belong to no segment; zero when a check begins. */
_Atomic uint64_t *harness_note(struct pe *pe, int index); /* 0..15 */

/* Count the calls of wake() that touch this range of my memory, from now on. */
void     harness_watch(struct pe *pe, const void *address, size_t bytes);
uint64_t harness_wakes(struct pe *pe);

/* Moves ctx on (may be NULL), gives the core away, and says whether to go on: false, after a failure, once the guard has expired. */
struct patience {
    int64_t  end_ns;
    unsigned turns;
};
bool harness_wait(struct pe *pe, struct patience *patience, struct shmemt_ctx *ctx, const char *file, int line, const char *what);
#define WAIT_UNTIL(pe, ctx, condition)                                                              \
    do {                                                                                            \
        struct patience patience_ = {0};                                                            \
        while (!(condition) && harness_wait(pe, &patience_, ctx, __FILE__, __LINE__, #condition)) { \
        }                                                                                           \
    } while (0)

/* ---- slots, with the loop that -EAGAIN asks for; the result is 0 or another errno ---- */

int harness_put(struct pe *pe, struct shmemt_ctx *ctx, int to, const struct shmemt_xfer *xfer);
int harness_get(struct pe *pe, struct shmemt_ctx *ctx, int from, const struct shmemt_xfer *xfer);
int harness_amo(struct pe *pe, struct shmemt_ctx *ctx, int to, const struct shmemt_amo *amo);
/* Where the transport has no put_signal: put, fence, amo, as the runtime does. */
int harness_put_signal(struct pe *pe, struct shmemt_ctx *ctx, int to, const struct shmemt_xfer *xfer,
                       const struct shmemt_amo *signal);
int harness_fence(struct pe *pe, struct shmemt_ctx *ctx, int to);
int harness_quiet(struct pe *pe, struct shmemt_ctx *ctx, int to);

/* The usual: one contiguous put or get of the heap; an 8-byte update of a word of the heap; a fetch that waits. All must be accepted. */
void     harness_put_bytes(struct pe *pe, struct shmemt_ctx *ctx, int to, uint64_t offset, const void *source, size_t bytes);
void     harness_get_bytes(struct pe *pe, struct shmemt_ctx *ctx, int from, uint64_t offset, void *dest, size_t bytes);
void     harness_update(struct pe *pe, struct shmemt_ctx *ctx, int to, uint64_t offset, enum shmemt_amo_op op, uint64_t value);
uint64_t harness_fetch(struct pe *pe, struct shmemt_ctx *ctx, int from, const struct shmemt_amo *amo);
void     harness_quiet_all(struct pe *pe, struct shmemt_ctx *ctx);

struct shmemt_ctx *harness_open_ctx(struct pe *pe);
void               harness_close_ctx(struct pe *pe, struct shmemt_ctx *ctx); /* quiets first */

static inline size_t harness_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
