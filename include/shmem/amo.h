/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic memory operations on one word of another PE.
 *
 * Each operation comes for the types of one AMO table (shmem_NAME_atomic_fetch) and on a context
 * (shmem_ctx_NAME_...), where pe counts in the context's team.  In C11, shmem_atomic_fetch and
 * so on pick by argument type.
 *
 *   dest, source  symmetric address of the word, as seen here, naturally aligned
 *   fetch         where the old value goes: any memory of this PE
 *   pe            0 <= pe < size of the team
 *
 * Atomic against each other and against wait and test, where the type and the atomicity domain are
 * the same; not against put, get or plain stores.  Fetching forms return with the old value; the
 * others are complete at the target after quiet, and ordered with later ones by fence.  The _nbi
 * forms return at once, and *fetch holds the value only after quiet.
 * Spec: OpenSHMEM 1.6 §9.7.
 */
#ifndef SHMEMI_AMO_H
#define SHMEMI_AMO_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument lists, one for each shape. */
#define SHMEMI_AMO_FETCH_ARGS(T)     const T *source, int pe
#define SHMEMI_AMO_VALUE_ARGS(T)     T *dest, T value, int pe
#define SHMEMI_AMO_CSWAP_ARGS(T)     T *dest, T cond, T value, int pe
#define SHMEMI_AMO_INC_ARGS(T)       T *dest, int pe
#define SHMEMI_AMO_FETCH_NBI_ARGS(T) T *fetch, const T *source, int pe
#define SHMEMI_AMO_VALUE_NBI_ARGS(T) T *fetch, T *dest, T value, int pe
#define SHMEMI_AMO_CSWAP_NBI_ARGS(T) T *fetch, T *dest, T cond, T value, int pe
#define SHMEMI_AMO_INC_NBI_ARGS(T)   T *fetch, T *dest, int pe

/*
 * One row of a table: the function, its form with a context, and the profiling twins of both.  OP is
 * the name from "atomic_" on: a bare "and" is a macro where <iso646.h> was included.
 */
#define SHMEMI_DECLARE_AMO(RET, NAME, OP, ARGS)      \
    SHMEMI_DECLARE(RET, shmem_##NAME##_##OP, (ARGS)) \
    SHMEMI_DECLARE(RET, shmem_ctx_##NAME##_##OP, (shmem_ctx_t ctx, ARGS))
#define SHMEMI_DECLARE_FETCH(NAME, T, OP)       SHMEMI_DECLARE_AMO(T, NAME, OP, SHMEMI_AMO_FETCH_ARGS(T))
#define SHMEMI_DECLARE_FETCH_VALUE(NAME, T, OP) SHMEMI_DECLARE_AMO(T, NAME, OP, SHMEMI_AMO_VALUE_ARGS(T))
#define SHMEMI_DECLARE_FETCH_INC(NAME, T, OP)   SHMEMI_DECLARE_AMO(T, NAME, OP, SHMEMI_AMO_INC_ARGS(T))
#define SHMEMI_DECLARE_CSWAP(NAME, T, OP)       SHMEMI_DECLARE_AMO(T, NAME, OP, SHMEMI_AMO_CSWAP_ARGS(T))
#define SHMEMI_DECLARE_VALUE(NAME, T, OP)       SHMEMI_DECLARE_AMO(void, NAME, OP, SHMEMI_AMO_VALUE_ARGS(T))
#define SHMEMI_DECLARE_INC(NAME, T, OP)         SHMEMI_DECLARE_AMO(void, NAME, OP, SHMEMI_AMO_INC_ARGS(T))
#define SHMEMI_DECLARE_FETCH_NBI(NAME, T, OP) \
    SHMEMI_DECLARE_AMO(void, NAME, OP, SHMEMI_AMO_FETCH_NBI_ARGS(T))
#define SHMEMI_DECLARE_VALUE_NBI(NAME, T, OP) \
    SHMEMI_DECLARE_AMO(void, NAME, OP, SHMEMI_AMO_VALUE_NBI_ARGS(T))
#define SHMEMI_DECLARE_INC_NBI(NAME, T, OP) \
    SHMEMI_DECLARE_AMO(void, NAME, OP, SHMEMI_AMO_INC_NBI_ARGS(T))
#define SHMEMI_DECLARE_CSWAP_NBI(NAME, T, OP) \
    SHMEMI_DECLARE_AMO(void, NAME, OP, SHMEMI_AMO_CSWAP_NBI_ARGS(T))

SHMEMI_BEGIN

/* Read; write value; write value and return the old one.  Spec: §9.7.1.1, §9.7.1.2, §9.7.1.4. */
SHMEMI_AMO_EXT_TYPES(SHMEMI_DECLARE_FETCH, atomic_fetch)
SHMEMI_AMO_EXT_TYPES(SHMEMI_DECLARE_VALUE, atomic_set)
SHMEMI_AMO_EXT_TYPES(SHMEMI_DECLARE_FETCH_VALUE, atomic_swap)

/* Write value where the word equals cond; return the old one.  Spec: §9.7.1.3. */
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_CSWAP, atomic_compare_swap)

/* Add 1, or value; the fetch_ forms return the old value.  Spec: §9.7.1.5 to §9.7.1.8. */
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_FETCH_INC, atomic_fetch_inc)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_INC, atomic_inc)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_FETCH_VALUE, atomic_fetch_add)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_VALUE, atomic_add)

/* Join the word with value bit by bit; the fetch_ forms return the old value.  Spec: §9.7.1.9 to §9.7.1.14. */
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_FETCH_VALUE, atomic_fetch_and)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_VALUE, atomic_and)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_FETCH_VALUE, atomic_fetch_or)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_VALUE, atomic_or)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_FETCH_VALUE, atomic_fetch_xor)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_VALUE, atomic_xor)

/* The fetching forms without waiting: *fetch holds the old value after quiet.  Spec: §9.7.2. */
SHMEMI_AMO_EXT_TYPES(SHMEMI_DECLARE_FETCH_NBI, atomic_fetch_nbi)
SHMEMI_AMO_EXT_TYPES(SHMEMI_DECLARE_VALUE_NBI, atomic_swap_nbi)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_CSWAP_NBI, atomic_compare_swap_nbi)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_INC_NBI, atomic_fetch_inc_nbi)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_VALUE_NBI, atomic_fetch_add_nbi)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_VALUE_NBI, atomic_fetch_and_nbi)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_VALUE_NBI, atomic_fetch_or_nbi)
SHMEMI_AMO_BIT_TYPES(SHMEMI_DECLARE_VALUE_NBI, atomic_fetch_xor_nbi)

SHMEMI_END

#undef SHMEMI_DECLARE_AMO
#undef SHMEMI_DECLARE_FETCH
#undef SHMEMI_DECLARE_FETCH_VALUE
#undef SHMEMI_DECLARE_FETCH_INC
#undef SHMEMI_DECLARE_CSWAP
#undef SHMEMI_DECLARE_VALUE
#undef SHMEMI_DECLARE_INC
#undef SHMEMI_DECLARE_FETCH_NBI
#undef SHMEMI_DECLARE_VALUE_NBI
#undef SHMEMI_DECLARE_INC_NBI
#undef SHMEMI_DECLARE_CSWAP_NBI

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
#define SHMEMI_SELECT_AMO_STD(OP, ...) \
    SHMEMI_SELECT_CTX(SHMEMI_AMO_STD_BASE_TYPES, OP, shmemi_error_not_an_amo_type, __VA_ARGS__)
#define SHMEMI_SELECT_AMO_EXT(OP, ...) \
    SHMEMI_SELECT_CTX(SHMEMI_AMO_EXT_BASE_TYPES, OP, shmemi_error_not_an_ext_amo_type, __VA_ARGS__)
#define SHMEMI_SELECT_AMO_BIT(OP, ...) \
    SHMEMI_SELECT_CTX(SHMEMI_AMO_BIT_BASE_TYPES, OP, shmemi_error_not_a_bitwise_type, __VA_ARGS__)

#define shmem_atomic_fetch(...)            SHMEMI_SELECT_AMO_EXT(atomic_fetch, __VA_ARGS__)
#define shmem_atomic_set(...)              SHMEMI_SELECT_AMO_EXT(atomic_set, __VA_ARGS__)
#define shmem_atomic_swap(...)             SHMEMI_SELECT_AMO_EXT(atomic_swap, __VA_ARGS__)
#define shmem_atomic_compare_swap(...)     SHMEMI_SELECT_AMO_STD(atomic_compare_swap, __VA_ARGS__)
#define shmem_atomic_fetch_inc(...)        SHMEMI_SELECT_AMO_STD(atomic_fetch_inc, __VA_ARGS__)
#define shmem_atomic_inc(...)              SHMEMI_SELECT_AMO_STD(atomic_inc, __VA_ARGS__)
#define shmem_atomic_fetch_add(...)        SHMEMI_SELECT_AMO_STD(atomic_fetch_add, __VA_ARGS__)
#define shmem_atomic_add(...)              SHMEMI_SELECT_AMO_STD(atomic_add, __VA_ARGS__)
#define shmem_atomic_fetch_and(...)        SHMEMI_SELECT_AMO_BIT(atomic_fetch_and, __VA_ARGS__)
#define shmem_atomic_and(...)              SHMEMI_SELECT_AMO_BIT(atomic_and, __VA_ARGS__)
#define shmem_atomic_fetch_or(...)         SHMEMI_SELECT_AMO_BIT(atomic_fetch_or, __VA_ARGS__)
#define shmem_atomic_or(...)               SHMEMI_SELECT_AMO_BIT(atomic_or, __VA_ARGS__)
#define shmem_atomic_fetch_xor(...)        SHMEMI_SELECT_AMO_BIT(atomic_fetch_xor, __VA_ARGS__)
#define shmem_atomic_xor(...)              SHMEMI_SELECT_AMO_BIT(atomic_xor, __VA_ARGS__)
#define shmem_atomic_fetch_nbi(...)        SHMEMI_SELECT_AMO_EXT(atomic_fetch_nbi, __VA_ARGS__)
#define shmem_atomic_swap_nbi(...)         SHMEMI_SELECT_AMO_EXT(atomic_swap_nbi, __VA_ARGS__)
#define shmem_atomic_compare_swap_nbi(...) SHMEMI_SELECT_AMO_STD(atomic_compare_swap_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_inc_nbi(...)    SHMEMI_SELECT_AMO_STD(atomic_fetch_inc_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_add_nbi(...)    SHMEMI_SELECT_AMO_STD(atomic_fetch_add_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_and_nbi(...)    SHMEMI_SELECT_AMO_BIT(atomic_fetch_and_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_or_nbi(...)     SHMEMI_SELECT_AMO_BIT(atomic_fetch_or_nbi, __VA_ARGS__)
#define shmem_atomic_fetch_xor_nbi(...)    SHMEMI_SELECT_AMO_BIT(atomic_fetch_xor_nbi, __VA_ARGS__)
#endif

/* clang-format on */

#endif
