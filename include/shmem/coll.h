/* SPDX-License-Identifier: Apache-2.0
 *
 * Collective routines: all PEs of a team make the same calls in the same order.  Here the barriers and the
 * data movers; reduce.h has reductions and scans, active_set.h the deprecated forms without a team.
 *
 * The data movers come for the 24 types of the RMA table (shmem_NAME_broadcast) and for bytes
 * (shmem_broadcastmem).  In C11, shmem_broadcast and so on pick by the type of dest.
 *
 *   team          a valid team with the caller in it; no two threads of a PE use one team at once
 *   dest, source  symmetric addresses, the same object on all PEs; the two may not overlap
 *   nelems        elements (mem: bytes) of one PE's contribution; 0 is valid
 *
 * A call may write dest as soon as any PE has made it, so dest must be ready on every PE before that, while source
 * must be ready only on the PE that makes the call.  On return this PE's dest is complete and its source may be used
 * again; other PEs may still be inside.  The next collective on the team may follow at once.
 *
 * Returns 0 where this PE's part succeeded, else nonzero.  A bad team, address or size is undefined by the
 * standard; checked builds report it.
 * Spec: OpenSHMEM 1.6 §9.10.
 */
#ifndef SHMEMI_COLL_H
#define SHMEMI_COLL_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument lists, one for each shape.  T is the element type, or void. */
#define SHMEMI_TEAM_MOVE_ARGS(T)      shmem_team_t team, T *dest, const T *source, size_t nelems
#define SHMEMI_TEAM_BROADCAST_ARGS(T) shmem_team_t team, T *dest, const T *source, size_t nelems, int PE_root
#define SHMEMI_TEAM_ALLTOALLS_ARGS(T) \
    shmem_team_t team, T *dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems

/* One row of the table: X(NAME, TYPE, operation, argument list). */
#define SHMEMI_DECLARE_TEAM(NAME, T, OP, ARGS) SHMEMI_DECLARE(int, shmem_##NAME##_##OP, (ARGS(T)))

SHMEMI_BEGIN

/*
 * Wait until all PEs of the job have come here.  barrier_all first completes the operations of the
 * default context and the plain stores of this PE (quiet); sync_all makes plain stores visible and
 * completes nothing.  Spec: §9.10.1, §9.10.4.
 */
SHMEMI_DECLARE(void, shmem_barrier_all, (void))
SHMEMI_DECLARE(void, shmem_sync_all, (void))

/* sync_all for the PEs of team.  In C11 also called shmem_sync.  Spec: §9.10.3. */
SHMEMI_DECLARE(int, shmem_team_sync, (shmem_team_t team))

/*
 * Exchange nelems elements between each two PEs: block k of my dest is the block for me in the source of PE k.
 * Both arrays have nelems elements for each PE, in team order.  Spec: §9.10.5.
 */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_TEAM, alltoall, SHMEMI_TEAM_MOVE_ARGS)
SHMEMI_DECLARE(int, shmem_alltoallmem, (SHMEMI_TEAM_MOVE_ARGS(void)))

/*
 * The same with strides, counted in elements and at least 1: element i of block k is at index
 * sst * (k * nelems + i) of source, and at dst * (k * nelems + i) of dest.  Spec: §9.10.6.
 */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_TEAM, alltoalls, SHMEMI_TEAM_ALLTOALLS_ARGS)
SHMEMI_DECLARE(int, shmem_alltoallsmem, (SHMEMI_TEAM_ALLTOALLS_ARGS(void)))

/*
 * Copy nelems elements of source on PE_root to dest on all PEs, PE_root as well.  PE_root is a number in team.
 * Spec: §9.10.7.
 */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_TEAM, broadcast, SHMEMI_TEAM_BROADCAST_ARGS)
SHMEMI_DECLARE(int, shmem_broadcastmem, (SHMEMI_TEAM_BROADCAST_ARGS(void)))

/*
 * Join the sources of all PEs, in team order, in dest on all PEs.  With collect each PE gives its own nelems; with
 * fcollect it is the same on all.  Spec: §9.10.8.
 */
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_TEAM, collect, SHMEMI_TEAM_MOVE_ARGS)
SHMEMI_DECLARE(int, shmem_collectmem, (SHMEMI_TEAM_MOVE_ARGS(void)))
SHMEMI_RMA_TYPES(SHMEMI_DECLARE_TEAM, fcollect, SHMEMI_TEAM_MOVE_ARGS)
SHMEMI_DECLARE(int, shmem_fcollectmem, (SHMEMI_TEAM_MOVE_ARGS(void)))

SHMEMI_END

#undef SHMEMI_DECLARE_TEAM

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
#define SHMEMI_SELECT_MOVE(OP, ...) \
    SHMEMI_SELECT_TEAM(SHMEMI_RMA_BASE_TYPES, OP, shmemi_error_not_an_rma_type, __VA_ARGS__)

#define shmem_alltoall(...)  SHMEMI_SELECT_MOVE(alltoall, __VA_ARGS__)
#define shmem_alltoalls(...) SHMEMI_SELECT_MOVE(alltoalls, __VA_ARGS__)
#define shmem_broadcast(...) SHMEMI_SELECT_MOVE(broadcast, __VA_ARGS__)
#define shmem_collect(...)   SHMEMI_SELECT_MOVE(collect, __VA_ARGS__)
#define shmem_fcollect(...)  SHMEMI_SELECT_MOVE(fcollect, __VA_ARGS__)
#endif

/* clang-format on */

#endif
