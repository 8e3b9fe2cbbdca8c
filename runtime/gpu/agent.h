/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of the host that a stream of the GPU waits for. The stream does three things with one:
 *
 *     calls a function of the host, which only hands the operation to a thread of ours, and wakes it;
 *     waits for a word of pinned host memory, which that thread writes when the operation is over;
 *     goes on.
 *
 * Why not do it in the function itself: no call of the driver is allowed there, and the driver has one thread for the functions of all
 * streams, so one that waits for another PE would hold up the operation that this PE is waited for. Here each stream that waits has a thread,
 * and threads that have nothing to do sleep.
 *
 * Design: docs/gpu.md "Operations on a stream".
 */
#ifndef SHMEMI_GPU_AGENT_H
#define SHMEMI_GPU_AGENT_H

#include "runtime/base/cuda.h"

#include <pshmem.h>
#include <stddef.h>
#include <stdint.h>

/* One operation. Which fields count depends on run. */
struct shmemi_gpu_agent_op {
    void (*run)(const struct shmemi_gpu_agent_op *op); /* in a thread of ours; may block and call anything of the library */
    const char  *call;                                 /* name, for messages; lasts */
    void        *dest;
    const void  *source;
    size_t       nelems;
    uint64_t    *sig_addr;
    uint64_t     value;
    int          what; /* sig_op, comparison, or root */
    int          pe;
    shmem_team_t team;
    char         small[16]; /* a value by itself: source may point here in run only */

    /* The agent's own. */
    struct shmemi_gpu_agent_op   *next;
    struct shmemi_gpu_agent_word *word;
    uint64_t                      word_value;
};

/* Put a copy of op on stream. Control plane and data plane at once: allocates, and calls the driver. Ends the job with a message where it cannot. */
void shmemi_gpu_agent_submit(const struct shmemi_gpu_agent_op *op, shmemi_cu_stream stream);

/* Flags that a wait of a stream for a word needs here besides its comparison. */
unsigned shmemi_gpu_agent_flush(const char *call);

/* The last finalize, before anything else: all that is on streams is done, the threads end. Nothing where there was none. */
void shmemi_gpu_agent_stop(void);

#endif
