/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions and scans over a team: element i of dest is made from the elements i of the sources of several PEs.
 *
 * Each operation comes for the types of one reduction table (shmem_NAME_sum_reduce).  In C11, shmem_sum_reduce and so
 * on pick by the type of dest.  C++ does not have the complex types.
 *
 *   team             a valid team with the caller in it; no two threads of a PE use one team at once
 *   dest, source     symmetric arrays, the same object on all PEs: one array, or two that do not overlap
 *   nreduce, nelems  elements in each, the same on all PEs; 0 is valid
 *
 * When dest must be ready, what holds on return, and the result of the call are as in coll.h.  The order in which
 * the elements are joined is not fixed, so rounded (floating-point) results may depend on the number of PEs.
 * Spec: OpenSHMEM 1.6 §9.10.9, §9.10.10.
 */
#ifndef SHMEMI_REDUCE_H
#define SHMEMI_REDUCE_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument lists, one for each shape. */
#define SHMEMI_REDUCE_ARGS(T) shmem_team_t team, T *dest, const T *source, size_t nreduce
#define SHMEMI_SCAN_ARGS(T)   shmem_team_t team, T *dest, const T *source, size_t nelems

/* One row of a table.  OP has "_reduce" in it: a bare "and" is a macro where <iso646.h> was included. */
#define SHMEMI_DECLARE_REDUCE(NAME, T, OP) SHMEMI_DECLARE(int, shmem_##NAME##_##OP, (SHMEMI_REDUCE_ARGS(T)))
#define SHMEMI_DECLARE_SCAN(NAME, T, OP)   SHMEMI_DECLARE(int, shmem_##NAME##_##OP, (SHMEMI_SCAN_ARGS(T)))

SHMEMI_BEGIN

/* Join the elements of all PEs bit by bit; dest is the same on all PEs.  Spec: §9.10.9.1 to §9.10.9.3. */
SHMEMI_REDUCE_BIT_TYPES(SHMEMI_DECLARE_REDUCE, and_reduce)
SHMEMI_REDUCE_BIT_TYPES(SHMEMI_DECLARE_REDUCE, or_reduce)
SHMEMI_REDUCE_BIT_TYPES(SHMEMI_DECLARE_REDUCE, xor_reduce)

/* The largest, or the smallest.  Spec: §9.10.9.4, §9.10.9.5. */
SHMEMI_REDUCE_ARITH_TYPES(SHMEMI_DECLARE_REDUCE, max_reduce)
SHMEMI_REDUCE_ARITH_TYPES(SHMEMI_DECLARE_REDUCE, min_reduce)

/* The sum, or the product.  Spec: §9.10.9.6, §9.10.9.7. */
SHMEMI_REDUCE_SUM_TYPES(SHMEMI_DECLARE_REDUCE, sum_reduce)
SHMEMI_REDUCE_SUM_TYPES(SHMEMI_DECLARE_REDUCE, prod_reduce)

/*
 * The sum over the PEs 0 to this one: inscan with this one, exscan without.  exscan writes zeros on PE 0.
 * Spec: §9.10.10.
 */
SHMEMI_REDUCE_SUM_TYPES(SHMEMI_DECLARE_SCAN, sum_inscan)
SHMEMI_REDUCE_SUM_TYPES(SHMEMI_DECLARE_SCAN, sum_exscan)

SHMEMI_END

#undef SHMEMI_DECLARE_REDUCE
#undef SHMEMI_DECLARE_SCAN

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
#define SHMEMI_SELECT_REDUCE_BIT(OP, ...) \
    SHMEMI_SELECT_TEAM(SHMEMI_REDUCE_BIT_BASE_TYPES, OP, shmemi_error_not_a_reduce_bit_type, __VA_ARGS__)
#define SHMEMI_SELECT_REDUCE_ARITH(OP, ...) \
    SHMEMI_SELECT_TEAM(SHMEMI_REDUCE_ARITH_BASE_TYPES, OP, shmemi_error_not_a_reduce_type, __VA_ARGS__)
#define SHMEMI_SELECT_REDUCE_SUM(OP, ...) \
    SHMEMI_SELECT_TEAM(SHMEMI_REDUCE_SUM_BASE_TYPES, OP, shmemi_error_not_a_sum_type, __VA_ARGS__)

#define shmem_and_reduce(...)  SHMEMI_SELECT_REDUCE_BIT(and_reduce, __VA_ARGS__)
#define shmem_or_reduce(...)   SHMEMI_SELECT_REDUCE_BIT(or_reduce, __VA_ARGS__)
#define shmem_xor_reduce(...)  SHMEMI_SELECT_REDUCE_BIT(xor_reduce, __VA_ARGS__)
#define shmem_max_reduce(...)  SHMEMI_SELECT_REDUCE_ARITH(max_reduce, __VA_ARGS__)
#define shmem_min_reduce(...)  SHMEMI_SELECT_REDUCE_ARITH(min_reduce, __VA_ARGS__)
#define shmem_sum_reduce(...)  SHMEMI_SELECT_REDUCE_SUM(sum_reduce, __VA_ARGS__)
#define shmem_prod_reduce(...) SHMEMI_SELECT_REDUCE_SUM(prod_reduce, __VA_ARGS__)
#define shmem_sum_inscan(...)  SHMEMI_SELECT_REDUCE_SUM(sum_inscan, __VA_ARGS__)
#define shmem_sum_exscan(...)  SHMEMI_SELECT_REDUCE_SUM(sum_exscan, __VA_ARGS__)
#endif

/* clang-format on */

#endif
