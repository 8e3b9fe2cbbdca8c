/* SPDX-License-Identifier: Apache-2.0
 *
 * GPU memory in the runtime: which GPU a PE has, the symmetric GPU heap, and operations that touch memory of a GPU on either side.
 *
 * The GPU heap is segment SHMEMT_SEGMENT_GPU, laid out like the host heap: each PE reserves one range of addresses for the heaps of all PEs of its
 * node, at a fixed stride, so a peer's address is arithmetic. A process that has a GPU heap leaves the plain path of put and get (state.h), since
 * either operand may be memory that no CPU instruction may touch; one without it pays nothing.
 *
 * An operation on a word or range of a GPU heap goes one of three ways (docs/decisions/0016):
 *
 *   driver   the heap is mapped here: copies by the driver on streams of ours, atomics by a small kernel
 *   posted   a transport has registered the memory: its put and get; not its atomics, which need a CPU at the target
 *   staged   neither: a thread of the target does it with its own driver, asked through a box in segment CTRL (stage.c)
 *
 * Design: docs/gpu.md, docs/decisions/0016.  Tests: tests/gpu/.
 */
#ifndef SHMEMI_GPU_H
#define SHMEMI_GPU_H

#include "runtime/base/attr.h"
#include "runtime/base/cuda.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- start and end (init.c, node.c, connect.c); all are harmless where there is no GPU ---- */

struct shmemi_gpu_card; /* init.h: what a PE tells of its GPU in the first exchange */

/* The program uses GPUs: without a word of the user it gets a GPU heap. Before shmem_init; the device headers' registrar calls it. */
void shmemi_gpu_want(void);

/* Open the driver and choose this PE's GPU, if anything asks for one. Before the first exchange. 0 or a negative errno, logged. */
int shmemi_gpu_open(void);
/* What the others are to know. */
void shmemi_gpu_fill_card(struct shmemi_gpu_card *card_out);

/* Does the job have a GPU heap, and of what size? After the first exchange, with the same answer on all PEs. 0 or a negative errno, logged. */
int shmemi_gpu_plan(void);

/*
 * Make this PE's part, give it to the PEs of the node, and map theirs. Every PE calls it where plan() gave a heap, also one that has failed
 * otherwise (failed), since the others wait for its word. Before the second exchange, whose card carries the result. 0 or a negative errno: this
 * PE has no part (logged where a size was asked for).
 */
int shmemi_gpu_share(int failed);
/* After the second exchange: some PE has no part. 0: the job goes on without a GPU heap; else the errno with which all fail. */
int shmemi_gpu_without(int pe, int err);

/* For the transports: this PE's part. bytes 0: there is none. */
struct shmemt_region shmemi_gpu_region(void);
/* A transport that posts has registered it (err 0), or not; told by connect.c for each. After the last one, say it in the report. */
void shmemi_gpu_registered(size_t transport, int err);
void shmemi_gpu_report_rdma(void);

/* From here on operands may be memory of a GPU; the report. Then, with the routes known, the thread that serves others. 0 or a negative errno, logged. */
int shmemi_gpu_start(void);
int shmemi_gpu_serve(void);
/* Stop the thread, while all that it uses is there; then, with nothing of ours under way, unmap and close. Safe at any stage. */
void shmemi_gpu_stop(void);
void shmemi_gpu_close(void);

/* ---- what is there, for device/ and stream.c ---- */

struct shmemi_gpu {
    const struct shmemi_cuda *cuda; /* NULL: no GPU is used */
    shmemi_cu_device          device;
    int                       ordinal; /* as the driver numbers those that this process sees */
    shmemi_cu_context         context; /* the primary one, which the CUDA runtime of the program uses too */
    char                      name[64];
    shmemi_cu_stream          stream;             /* of blocking operations: used with a wait at its end   */
    shmemi_cu_stream          stream_nbi;         /* of nonblocking ones: fence and quiet wait for its end */
    _Atomic uint64_t          nbi_made, nbi_done; /* operations put on stream_nbi; of these, known to be over */

    size_t  unit;      /* granularity of the driver's memory: of addresses and sizes          */
    size_t  bytes;     /* of each GPU heap; 0: there is none                                   */
    size_t  stride;    /* from heap to heap in the reservation                                 */
    char   *map;       /* the reservation: the heap of local PE i begins at map + i * stride    */
    size_t  map_bytes; /* 0: nothing is reserved                                                */
    size_t  local_pes;
    bool   *mapped;  /* [local_pes] this GPU loads and stores that PE's part (P2P, or the same GPU) */
    bool   *atomics; /* [local_pes] and does atomics there: not over PCIe between GPUs              */
    int     dma_buf; /* descriptor of the own part, or -1                                           */
    uint8_t uuid[16];
};
extern struct shmemi_gpu shmemi_gpu;

/* Make our context the calling thread's, and back. Around every call of the driver. */
void shmemi_gpu_enter(void);
void shmemi_gpu_leave(void);

/* Ends the job with a message where a call of the driver failed in a call that has no status. */
void shmemi_gpu_require(unsigned result, const char *call, const char *what);

/* ---- pointers ---- */

/* Ends the job: what the CPU itself works on cannot lie in GPU memory. */
SHMEMI_NORETURN SHMEMI_COLD void shmemi_gpu_refuse(const char *call, const char *what, const void *address);

/* Is it memory of a GPU: of a GPU heap, or what the program has from cudaMalloc? */
bool               shmemi_gpu_is_foreign(const void *address);
static inline bool shmemi_gpu_is_heap(const void *address)
{
    return (uintptr_t)address - (uintptr_t)shmemi_gpu.map < shmemi_gpu.map_bytes;
}
static inline bool shmemi_gpu_is(const void *address)
{
    return shmemi_gpu_is_heap(address) || shmemi_gpu_is_foreign(address);
}

/* Has an operation on that place, with that local memory (NULL: none), anything to do with a GPU? The careful paths ask this first. */
static inline bool shmemi_gpu_concerns(const struct shmemi_place *place, const void *local)
{
    return SHMEMI_UNLIKELY(shmemi_state.gpu) && (place->segment == SHMEMT_SEGMENT_GPU || (local && shmemi_gpu_is(local)));
}

/* The same for a collective: are its arrays in a GPU heap? */
static inline bool shmemi_gpu_concerns_arrays(const void *dest, const void *source)
{
    return SHMEMI_UNLIKELY(shmemi_state.gpu) && (shmemi_gpu_is_heap(dest) || shmemi_gpu_is_heap(source));
}

/* ---- operations: any mix of host and GPU memory on either side ---- */

void shmemi_gpu_put(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                    enum shmemi_post_wait wait);
void shmemi_gpu_get(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t bytes, enum shmemi_post_wait wait);
void shmemi_gpu_put_strided(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t blocks, size_t bytes,
                            ptrdiff_t local_stride, ptrdiff_t remote_stride);
void shmemi_gpu_get_strided(struct shmemi_ctx *ctx, const struct shmemi_place *from, void *dest, size_t blocks, size_t bytes,
                            ptrdiff_t local_stride, ptrdiff_t remote_stride);
/* amo->fetch may be memory of a GPU too. The old value is there on return, also of the nonblocking forms. */
void shmemi_gpu_amo(struct shmemi_ctx *ctx, const struct shmemi_place *at, const struct shmemt_amo *amo);
void shmemi_gpu_put_signal(struct shmemi_ctx *ctx, const struct shmemi_place *to, const void *source, size_t bytes,
                           const struct shmemi_place *signal, uint64_t value, enum shmemt_amo_op op);

/* Copy between any two ranges that this process addresses; done on return. */
void shmemi_gpu_copy(void *dest, const void *source, size_t bytes);
void shmemi_gpu_copy_strided(void *dest, ptrdiff_t dest_stride, const void *source, ptrdiff_t source_stride, size_t blocks,
                             size_t bytes);
void shmemi_gpu_zero(void *dest, size_t bytes);

/* Nonblocking operations of ours are done. Called by fence and quiet. */
void               shmemi_gpu_complete_slow(void);
static inline void shmemi_gpu_complete(void)
{
    /* Relaxed: the thread that asks has made them, or has synchronised with the one that did. */
    if (SHMEMI_UNLIKELY(atomic_load_explicit(&shmemi_gpu.nbi_made, memory_order_relaxed) !=
                        atomic_load_explicit(&shmemi_gpu.nbi_done, memory_order_relaxed)))
        shmemi_gpu_complete_slow();
}

#endif
