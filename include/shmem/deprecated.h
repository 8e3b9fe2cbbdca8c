/* SPDX-License-Identifier: Apache-2.0
 *
 * Older names of calls that other headers have by a new one.  Deprecated since 1.2 (no shmem_ prefix) and 1.4 (atomics
 * without "atomic_", waits without a comparison).  Deprecated forms with a meaning of their own are in active_set.h
 * and p2p.h.
 * Spec: OpenSHMEM 1.6 §F Deprecated API, and the sections named below.
 */
#ifndef SHMEMI_DEPRECATED_H
#define SHMEMI_DEPRECATED_H

#include "amo.h"
#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument list of wait; the atomics have those of amo.h. */
#define SHMEMI_OLD_WAIT_ARGS(T) T *ivar, T cmp_value

/* One row of a table: X(NAME, TYPE, operation).  There are no forms with a context. */
#define SHMEMI_DECLARE_OLD_FETCH(NAME, T, OP)     SHMEMI_DECLARE(T, shmem_##NAME##_##OP, (SHMEMI_AMO_FETCH_ARGS(T)))
#define SHMEMI_DECLARE_OLD_FETCHING(NAME, T, OP)  SHMEMI_DECLARE(T, shmem_##NAME##_##OP, (SHMEMI_AMO_VALUE_ARGS(T)))
#define SHMEMI_DECLARE_OLD_FETCH_INC(NAME, T, OP) SHMEMI_DECLARE(T, shmem_##NAME##_##OP, (SHMEMI_AMO_INC_ARGS(T)))
#define SHMEMI_DECLARE_OLD_CSWAP(NAME, T, OP)     SHMEMI_DECLARE(T, shmem_##NAME##_##OP, (SHMEMI_AMO_CSWAP_ARGS(T)))
#define SHMEMI_DECLARE_OLD_VALUE(NAME, T, OP)     SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_AMO_VALUE_ARGS(T)))
#define SHMEMI_DECLARE_OLD_INC(NAME, T, OP)       SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_AMO_INC_ARGS(T)))
#define SHMEMI_DECLARE_OLD_WAIT(NAME, T, OP)      SHMEMI_DECLARE(void, shmem_##NAME##_##OP, (SHMEMI_OLD_WAIT_ARGS(T)))

SHMEMI_BEGIN

/*
 * Start OpenSHMEM; npes is not looked at.  It ends by itself at the end of the program, which is collective over all
 * PEs.  Calling it again does nothing.  Spec: §9.1.13.
 */
SHMEMI_DECLARE(void, start_pes, (int npes))

/* shmem_my_pe and shmem_n_pes.  Spec: §9.1.2, §9.1.3. */
SHMEMI_DECLARE(int, _my_pe, (void))
SHMEMI_DECLARE(int, _num_pes, (void))

/* shmem_malloc, shmem_free, shmem_realloc, shmem_align.  Spec: §9.3. */
SHMEMI_DECLARE(void *, shmalloc, (size_t size))
SHMEMI_DECLARE(void, shfree, (void *ptr))
SHMEMI_DECLARE(void *, shrealloc, (void *ptr, size_t size))
SHMEMI_DECLARE(void *, shmemalign, (size_t alignment, size_t size))

/* atomic_fetch, atomic_set, atomic_swap.  Spec: §9.7.1.1, §9.7.1.2, §9.7.1.4. */
SHMEMI_AMO_OLD_EXT_TYPES(SHMEMI_DECLARE_OLD_FETCH, fetch)
SHMEMI_AMO_OLD_EXT_TYPES(SHMEMI_DECLARE_OLD_VALUE, set)
SHMEMI_AMO_OLD_EXT_TYPES(SHMEMI_DECLARE_OLD_FETCHING, swap)

/* atomic_compare_swap, atomic_fetch_inc, _inc, _fetch_add, _add.  Spec: §9.7.1.3, §9.7.1.5 to §9.7.1.8. */
SHMEMI_AMO_OLD_STD_TYPES(SHMEMI_DECLARE_OLD_CSWAP, cswap)
SHMEMI_AMO_OLD_STD_TYPES(SHMEMI_DECLARE_OLD_FETCH_INC, finc)
SHMEMI_AMO_OLD_STD_TYPES(SHMEMI_DECLARE_OLD_INC, inc)
SHMEMI_AMO_OLD_STD_TYPES(SHMEMI_DECLARE_OLD_FETCHING, fadd)
SHMEMI_AMO_OLD_STD_TYPES(SHMEMI_DECLARE_OLD_VALUE, add)

/* Wait until *ivar differs from cmp_value; shmem_wait is for long.  Spec: §9.11.1. */
SHMEMI_OLD_WAIT_TYPES(SHMEMI_DECLARE_OLD_WAIT, wait)
SHMEMI_DECLARE(void, shmem_wait, (SHMEMI_OLD_WAIT_ARGS(long)))

/* shmem_long_wait_until.  In C11 the generic of this name takes its place.  Spec: §9.11.1. */
SHMEMI_DECLARE(void, shmem_wait_until, (long *ivar, int cmp, long cmp_value))

SHMEMI_END

#undef SHMEMI_DECLARE_OLD_FETCH
#undef SHMEMI_DECLARE_OLD_FETCHING
#undef SHMEMI_DECLARE_OLD_FETCH_INC
#undef SHMEMI_DECLARE_OLD_CSWAP
#undef SHMEMI_DECLARE_OLD_VALUE
#undef SHMEMI_DECLARE_OLD_INC
#undef SHMEMI_DECLARE_OLD_WAIT

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
#define SHMEMI_SELECT_OLD_EXT(OP, ...) \
    SHMEMI_SELECT(SHMEMI_AMO_OLD_EXT_TYPES, OP, shmemi_error_not_an_old_amo_type, __VA_ARGS__)
#define SHMEMI_SELECT_OLD_STD(OP, ...) \
    SHMEMI_SELECT(SHMEMI_AMO_OLD_STD_TYPES, OP, shmemi_error_not_an_old_amo_type, __VA_ARGS__)

#define shmem_fetch(...) SHMEMI_SELECT_OLD_EXT(fetch, __VA_ARGS__)
#define shmem_set(...)   SHMEMI_SELECT_OLD_EXT(set, __VA_ARGS__)
#define shmem_swap(...)  SHMEMI_SELECT_OLD_EXT(swap, __VA_ARGS__)
#define shmem_cswap(...) SHMEMI_SELECT_OLD_STD(cswap, __VA_ARGS__)
#define shmem_finc(...)  SHMEMI_SELECT_OLD_STD(finc, __VA_ARGS__)
#define shmem_inc(...)   SHMEMI_SELECT_OLD_STD(inc, __VA_ARGS__)
#define shmem_fadd(...)  SHMEMI_SELECT_OLD_STD(fadd, __VA_ARGS__)
#define shmem_add(...)   SHMEMI_SELECT_OLD_STD(add, __VA_ARGS__)
#endif

/* clang-format on */

#endif
