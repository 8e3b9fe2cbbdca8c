/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives on a stream: the agent makes the ordinary call when the stream has come to it.
 *
 * Tests: tests/gpu/stream_*.c.
 */
#include "runtime/gpu/stream.h"
#include "runtime/base/attr.h"

#include <shmemx.h>

static int submit(const char *call, void (*run)(const struct shmemi_gpu_agent_op *), shmem_team_t team, void *dest,
                  const void *source, size_t nelems, int root, void *stream)
{
    const struct shmemi_gpu_agent_op op = {
        .run = run, .call = call, .team = team, .dest = dest, .source = source, .nelems = nelems, .what = root};
    shmemi_gpu_stream_begin(call);
    if (team == SHMEM_TEAM_INVALID) return -1;
    shmemi_gpu_agent_submit(&op, stream);
    return 0;
}

/* clang-format off */

/* A typed call, and what the agent makes of it. */
#define DEFINE_BYTES(TYPE, WORD)                                                                                      \
    static void run_##WORD(const struct shmemi_gpu_agent_op *op)                                                          \
    {                                                                                                                 \
        pshmem_##WORD(op->team, op->dest, op->source, op->nelems);                                                    \
    }                                                                                                                 \
    int pshmemx_##WORD##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, void *stream)    \
    {                                                                                                                 \
        return submit("shmemx_" #WORD "_on_stream", run_##WORD, team, dest, source, nelems, 0, stream);               \
    }                                                                                                                 \
    SHMEMI_EXPORT(shmemx_##WORD##_on_stream)
#define DEFINE(NAME, T, OP) DEFINE_BYTES(T, NAME##_##OP)

#define DEFINE_BROADCAST_BYTES(TYPE, WORD)                                                                            \
    static void run_##WORD(const struct shmemi_gpu_agent_op *op)                                                          \
    {                                                                                                                 \
        pshmem_##WORD(op->team, op->dest, op->source, op->nelems, op->what);                                          \
    }                                                                                                                 \
    int pshmemx_##WORD##_on_stream(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, int PE_root,     \
                                   void *stream)                                                                      \
    {                                                                                                                 \
        return submit("shmemx_" #WORD "_on_stream", run_##WORD, team, dest, source, nelems, PE_root, stream);         \
    }                                                                                                                 \
    SHMEMI_EXPORT(shmemx_##WORD##_on_stream)
#define DEFINE_BROADCAST(NAME, T, OP) DEFINE_BROADCAST_BYTES(T, NAME##_##OP)

SHMEMI_RMA_TYPES(DEFINE_BROADCAST, broadcast)
SHMEMI_RMA_TYPES(DEFINE, fcollect)
SHMEMI_RMA_TYPES(DEFINE, alltoall)
DEFINE_BROADCAST_BYTES(void, broadcastmem)
DEFINE_BYTES(void, fcollectmem)
DEFINE_BYTES(void, alltoallmem)
SHMEMI_REDUCE_BIT_TYPES(DEFINE, and_reduce)
SHMEMI_REDUCE_BIT_TYPES(DEFINE, or_reduce)
SHMEMI_REDUCE_BIT_TYPES(DEFINE, xor_reduce)
SHMEMI_RMA_TYPES(DEFINE, max_reduce)
SHMEMI_RMA_TYPES(DEFINE, min_reduce)
SHMEMI_RMA_TYPES(DEFINE, sum_reduce)
SHMEMI_RMA_TYPES(DEFINE, prod_reduce)
/* clang-format on */
