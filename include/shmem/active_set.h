/* SPDX-License-Identifier: Apache-2.0
 *
 * Collective routines over an active set: the form from before there were teams.  All deprecated since 1.5; use the
 * calls of coll.h and reduce.h.
 *
 *   PE_start, logPE_stride, PE_size  the set: PEs PE_start + i * 2^logPE_stride of the world, 0 <= i < PE_size
 *   dest, source                     symmetric addresses, the same object on all PEs; the two may not overlap, but
 *                                    reductions may be given one array for both
 *   nelems, nreduce                  elements of one PE's contribution, of the bits in the name, or of the type
 *   pSync                            symmetric array of longs, SHMEM_..._SYNC_SIZE of them, that hold SHMEM_SYNC_VALUE
 *                                    on all PEs of the set before any of them calls; so they do again on return
 *   pWrk                             symmetric array of max(nreduce / 2 + 1, SHMEM_REDUCE_MIN_WRKDATA_SIZE) elements
 *
 * All PEs of the set, and no others, make the same calls in the same order.  dest, pSync and pWrk must be ready on all
 * PEs of the set before the first of them calls.  They may be used for another call only when all PEs have left this
 * one; a pSync of barrier and sync may be used at once for the same set.  On return this PE's dest is complete and its
 * source may be used again.
 * Spec: OpenSHMEM 1.6 §9.10.
 */
#ifndef SHMEMI_ACTIVE_SET_H
#define SHMEMI_ACTIVE_SET_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument lists, one for each shape.  T is the element type, or void. */
#define SHMEMI_ACTIVE_SET_ARGS int PE_start, int logPE_stride, int PE_size, long *pSync
#define SHMEMI_ACTIVE_MOVE_ARGS(T) \
    T *dest, const T *source, size_t nelems, int PE_start, int logPE_stride, int PE_size, long *pSync
#define SHMEMI_ACTIVE_BROADCAST_ARGS(T)                                                                \
    T *dest, const T *source, size_t nelems, int PE_root, int PE_start, int logPE_stride, int PE_size, \
    long *pSync
#define SHMEMI_ACTIVE_ALLTOALLS_ARGS(T)                                                                    \
    T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int PE_start, int logPE_stride, \
    int PE_size, long *pSync
#define SHMEMI_TO_ALL_ARGS(T)                                                                    \
    T *dest, const T *source, int nreduce, int PE_start, int logPE_stride, int PE_size, T *pWrk, \
    long *pSync

/* One row of the table of sizes, X(BITS, BYTES, operation, argument list), and of a table of types. */
#define SHMEMI_DECLARE_ACTIVE(BITS, BYTES, OP, ARGS) SHMEMI_DECLARE(void, shmem_##OP##BITS, (ARGS(void)))
#define SHMEMI_DECLARE_TO_ALL(NAME, T, OP)           SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_TO_ALL_ARGS(T)))

SHMEMI_BEGIN

/*
 * Wait until all PEs of the set have come here.  barrier first completes the operations of the default context
 * (quiet); sync makes plain stores visible and completes nothing.  Spec: §9.10.2, §9.10.3.
 */
SHMEMI_DECLARE(void, shmem_barrier, (SHMEMI_ACTIVE_SET_ARGS))
SHMEMI_DECLARE(void, shmem_sync, (SHMEMI_ACTIVE_SET_ARGS))

/* As shmem_alltoall and shmem_alltoalls.  Spec: §9.10.5, §9.10.6. */
SHMEMI_ACTIVE_SET_SIZES(SHMEMI_DECLARE_ACTIVE, alltoall, SHMEMI_ACTIVE_MOVE_ARGS)
SHMEMI_ACTIVE_SET_SIZES(SHMEMI_DECLARE_ACTIVE, alltoalls, SHMEMI_ACTIVE_ALLTOALLS_ARGS)

/* As shmem_broadcast, but dest on PE_root is not written.  PE_root is an index in the set, from 0.  Spec: §9.10.7. */
SHMEMI_ACTIVE_SET_SIZES(SHMEMI_DECLARE_ACTIVE, broadcast, SHMEMI_ACTIVE_BROADCAST_ARGS)

/* As shmem_collect and shmem_fcollect.  Spec: §9.10.8. */
SHMEMI_ACTIVE_SET_SIZES(SHMEMI_DECLARE_ACTIVE, collect, SHMEMI_ACTIVE_MOVE_ARGS)
SHMEMI_ACTIVE_SET_SIZES(SHMEMI_DECLARE_ACTIVE, fcollect, SHMEMI_ACTIVE_MOVE_ARGS)

/* As shmem_and_reduce and so on, for fewer types.  Spec: §9.10.9. */
SHMEMI_TO_ALL_BIT_TYPES(SHMEMI_DECLARE_TO_ALL, and_to_all)
SHMEMI_TO_ALL_BIT_TYPES(SHMEMI_DECLARE_TO_ALL, or_to_all)
SHMEMI_TO_ALL_BIT_TYPES(SHMEMI_DECLARE_TO_ALL, xor_to_all)
SHMEMI_TO_ALL_ARITH_TYPES(SHMEMI_DECLARE_TO_ALL, max_to_all)
SHMEMI_TO_ALL_ARITH_TYPES(SHMEMI_DECLARE_TO_ALL, min_to_all)
SHMEMI_TO_ALL_SUM_TYPES(SHMEMI_DECLARE_TO_ALL, sum_to_all)
SHMEMI_TO_ALL_SUM_TYPES(SHMEMI_DECLARE_TO_ALL, prod_to_all)

SHMEMI_END

#undef SHMEMI_DECLARE_ACTIVE
#undef SHMEMI_DECLARE_TO_ALL

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
/* A function too (above); the generic adds the form with a team, which is not deprecated.  Spec: §9.10.3. */
#define shmem_sync(...) \
    _Generic(SHMEMI_FIRST(__VA_ARGS__), shmem_team_t: shmem_team_sync, default: shmem_sync)(__VA_ARGS__)
#endif

/* clang-format on */

#endif
