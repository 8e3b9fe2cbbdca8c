/* SPDX-License-Identifier: Apache-2.0
 *
 * Signaling: put data, then update a 64-bit signal word at the same PE, as one operation.
 *
 *   dest, source, nelems, pe   as in rma.h
 *   sig_addr                   symmetric address of the signal word; may lie in another segment
 *                              than dest, and must not overlap it
 *   signal, sig_op             the operand, and SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD
 *
 * Who sees the new signal sees the data of this call.  Nothing is said about other transfers unless
 * a fence stands between.  With nelems 0 the signal is sent all the same.  Signal updates are atomic
 * against those with the same operator, signal_fetch, and wait and test.
 * Spec: OpenSHMEM 1.6 §9.8.
 */
#ifndef SHMEMI_SIGNAL_H
#define SHMEMI_SIGNAL_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument lists, one for each shape.  T is the element type, or void. */
#define SHMEMI_PUT_SIGNAL_ARGS(T) \
    T *dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe
#define SHMEMI_SIGNAL_ARGS uint64_t *sig_addr, uint64_t signal, int pe

#define SHMEMI_DECLARE_PUT_SIGNAL(NAME, T, OP)                             \
    SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_PUT_SIGNAL_ARGS(T))) \
    SHMEMI_DECLARE(void, shmem_ctx_##NAME##_##OP, (shmem_ctx_t ctx, SHMEMI_PUT_SIGNAL_ARGS(T)))
#define SHMEMI_DECLARE_PUT_SIGNAL_SIZED(BITS, BYTES, TAIL)                      \
    SHMEMI_DECLARE(void, shmem_put##BITS##TAIL, (SHMEMI_PUT_SIGNAL_ARGS(void))) \
    SHMEMI_DECLARE(void, shmem_ctx_put##BITS##TAIL, (shmem_ctx_t ctx, SHMEMI_PUT_SIGNAL_ARGS(void)))

SHMEMI_BEGIN

/* Returns when source may be used again.  Spec: §9.8.3. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_PUT_SIGNAL, put_signal)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_PUT_SIGNAL_SIZED, _signal)
SHMEMI_DECLARE_PUT_SIGNAL_SIZED(mem, 1, _signal)

/* Returns at once; source is in use until quiet.  Spec: §9.8.4. */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_PUT_SIGNAL, put_signal_nbi)
SHMEMI_RMA_SIZES(SHMEMI_DECLARE_PUT_SIGNAL_SIZED, _signal_nbi)
SHMEMI_DECLARE_PUT_SIGNAL_SIZED(mem, 1, _signal_nbi)

/*
 * Add to, or write, a signal word of another PE.  Complete there after quiet; ordered with
 * other operations to that PE by fence.  Spec: §9.8.5, §9.8.7.
 */
SHMEMI_DECLARE(void, shmem_signal_add, (SHMEMI_SIGNAL_ARGS))
SHMEMI_DECLARE(void, shmem_ctx_signal_add, (shmem_ctx_t ctx, SHMEMI_SIGNAL_ARGS))
SHMEMI_DECLARE(void, shmem_signal_set, (SHMEMI_SIGNAL_ARGS))
SHMEMI_DECLARE(void, shmem_ctx_signal_set, (shmem_ctx_t ctx, SHMEMI_SIGNAL_ARGS))

/* Read, atomically, a signal word of this PE.  Spec: §9.8.6. */
SHMEMI_DECLARE(uint64_t, shmem_signal_fetch, (const uint64_t *sig_addr))

SHMEMI_END

#undef SHMEMI_DECLARE_PUT_SIGNAL
#undef SHMEMI_DECLARE_PUT_SIGNAL_SIZED

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
#define shmem_put_signal(...) \
    SHMEMI_SELECT_CTX(SHMEMI_RMA_BASE_TYPES, put_signal, shmemi_error_not_an_rma_type, __VA_ARGS__)
#define shmem_put_signal_nbi(...) \
    SHMEMI_SELECT_CTX(SHMEMI_RMA_BASE_TYPES, put_signal_nbi, shmemi_error_not_an_rma_type, __VA_ARGS__)
/* Functions too; the generic adds the form with a context in front. */
#define shmem_signal_add(...)                                                                          \
    _Generic(SHMEMI_FIRST(__VA_ARGS__), shmem_ctx_t: shmem_ctx_signal_add, default: shmem_signal_add)( \
        __VA_ARGS__)
#define shmem_signal_set(...)                                                                          \
    _Generic(SHMEMI_FIRST(__VA_ARGS__), shmem_ctx_t: shmem_ctx_signal_set, default: shmem_signal_set)( \
        __VA_ARGS__)
#endif

/* clang-format on */

#endif
