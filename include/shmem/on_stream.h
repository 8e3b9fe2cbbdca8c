/* SPDX-License-Identifier: Apache-2.0
 *
 * Extensions: operations on a stream of a GPU.  A call puts the operation on the stream and returns; the operation comes after what is on the
 * stream already, and what is put there later comes after it.
 *
 *   stream        a CUstream or cudaStream_t, passed as void *; NULL is the default stream of the PE's GPU
 *   dest, source  as in the call without _on_stream; memory of the host or of a GPU
 *
 * The arguments by value may change at once; the memory they point to stays in use until the stream has come past the operation.  Needs a
 * GPU.  An error that is found later ends the job, as it does in void routines.  The forms with nbi complete no later than the others.
 */
#ifndef SHMEMI_ON_STREAM_H
#define SHMEMI_ON_STREAM_H

#include "constants.h"
#include "types.h"

/* clang-format off */

#define SHMEMI_STREAM_MOVE_ARGS(T)      T *dest, const T *source, size_t nelems, int pe, void *stream
#define SHMEMI_STREAM_SIGNAL_ARGS(T) \
    T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, void *stream
#define SHMEMI_STREAM_TEAM_ARGS(T)      shmem_team_t team, T *dest, const T *source, size_t nelems, void *stream
#define SHMEMI_STREAM_BROADCAST_ARGS(T) shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root, void *stream

/* Rows: X(NAME, TYPE, return type, operation, argument list). */
#define SHMEMI_DECLARE_STREAM(NAME, T, RET, OP, ARGS) SHMEMI_DECLARE_BOTH(RET, shmemx_##NAME##_##OP##_on_stream, (ARGS(T)))
#define SHMEMI_DECLARE_STREAM_SIZED(BITS, BYTES, RET, WORD, OP, ARGS) \
    SHMEMI_DECLARE_BOTH(RET, shmemx_##WORD##BITS##OP##_on_stream, (ARGS(void)))
#define SHMEMI_DECLARE_STREAM_P(NAME, T, OP) SHMEMI_DECLARE_BOTH(void, shmemx_##NAME##_##OP##_on_stream, (T *dest, T value, int pe, void *stream))

SHMEMI_BEGIN

/* Copies, as shmem_put, shmem_get and shmem_p. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, void, put,     SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, void, put_nbi, SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, void, get,     SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, void, get_nbi, SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM_P, p)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_STREAM_SIZED, void, put, ,     SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_STREAM_SIZED, void, put, _nbi, SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_STREAM_SIZED, void, get, ,     SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_STREAM_SIZED, void, get, _nbi, SHMEMI_STREAM_MOVE_ARGS)
SHMEMI_DECLARE_BOTH(void, shmemx_putmem_on_stream,     (SHMEMI_STREAM_MOVE_ARGS(void)))
SHMEMI_DECLARE_BOTH(void, shmemx_putmem_nbi_on_stream, (SHMEMI_STREAM_MOVE_ARGS(void)))
SHMEMI_DECLARE_BOTH(void, shmemx_getmem_on_stream,     (SHMEMI_STREAM_MOVE_ARGS(void)))
SHMEMI_DECLARE_BOTH(void, shmemx_getmem_nbi_on_stream, (SHMEMI_STREAM_MOVE_ARGS(void)))

/* Put with signal; the update of a signal alone; a wait for a signal, which holds up the stream and not the caller. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, void, put_signal,     SHMEMI_STREAM_SIGNAL_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, void, put_signal_nbi, SHMEMI_STREAM_SIGNAL_ARGS)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_STREAM_SIZED, void, put, _signal,     SHMEMI_STREAM_SIGNAL_ARGS)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_STREAM_SIZED, void, put, _signal_nbi, SHMEMI_STREAM_SIGNAL_ARGS)
SHMEMI_DECLARE_BOTH(void, shmemx_putmem_signal_on_stream,     (SHMEMI_STREAM_SIGNAL_ARGS(void)))
SHMEMI_DECLARE_BOTH(void, shmemx_putmem_signal_nbi_on_stream, (SHMEMI_STREAM_SIGNAL_ARGS(void)))
SHMEMI_DECLARE_BOTH(void, shmemx_signal_op_on_stream, (uint64_t *sig_addr, uint64_t signal, int sig_op, int pe, void *stream))
SHMEMI_DECLARE_BOTH(void, shmemx_signal_wait_until_on_stream, (uint64_t *sig_addr, int cmp, uint64_t cmp_value, void *stream))

/* Completion and meeting, as shmem_quiet, shmem_barrier_all, shmem_sync_all and shmem_team_sync; barrier: quiet, then the team's sync. */
SHMEMI_DECLARE_BOTH(void, shmemx_quiet_on_stream,       (void *stream))
SHMEMI_DECLARE_BOTH(void, shmemx_barrier_all_on_stream, (void *stream))
SHMEMI_DECLARE_BOTH(void, shmemx_sync_all_on_stream,    (void *stream))
SHMEMI_DECLARE_BOTH(int,  shmemx_barrier_on_stream,     (shmem_team_t team, void *stream))
SHMEMI_DECLARE_BOTH(int,  shmemx_team_sync_on_stream,   (shmem_team_t team, void *stream))

/* Collectives.  0, or nonzero for SHMEM_TEAM_INVALID. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, int, broadcast, SHMEMI_STREAM_BROADCAST_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, int, fcollect,  SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, int, alltoall,  SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_DECLARE_BOTH(int, shmemx_broadcastmem_on_stream, (SHMEMI_STREAM_BROADCAST_ARGS(void)))
SHMEMI_DECLARE_BOTH(int, shmemx_fcollectmem_on_stream,  (SHMEMI_STREAM_TEAM_ARGS(void)))
SHMEMI_DECLARE_BOTH(int, shmemx_alltoallmem_on_stream,  (SHMEMI_STREAM_TEAM_ARGS(void)))
SHMEMI_REDUCE_BIT_TYPES(SHMEMI_DECLARE_STREAM, int, and_reduce, SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_REDUCE_BIT_TYPES(SHMEMI_DECLARE_STREAM, int, or_reduce,  SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_REDUCE_BIT_TYPES(SHMEMI_DECLARE_STREAM, int, xor_reduce, SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, int, max_reduce,  SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, int, min_reduce,  SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, int, sum_reduce,  SHMEMI_STREAM_TEAM_ARGS)
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_STREAM, int, prod_reduce, SHMEMI_STREAM_TEAM_ARGS)

SHMEMI_END

#undef SHMEMI_DECLARE_STREAM
#undef SHMEMI_DECLARE_STREAM_SIZED
#undef SHMEMI_DECLARE_STREAM_P

/* clang-format on */

#endif
