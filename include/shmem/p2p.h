/* SPDX-License-Identifier: Apache-2.0
 *
 * Point-to-point synchronization: wait until words of this PE, which other PEs update, compare as
 * asked; or test whether they do.
 *
 *   ivar, ivars      symmetric word or array of this PE, updated by atomics or signals
 *   nelems           words in ivars; with 0 the arrays may be NULL
 *   status           nelems flags, never written: words with a nonzero flag are left out; NULL: none
 *   cmp              SHMEM_CMP_*: the word on the left, the value on the right
 *   cmp_value        the value for all words; cmp_values has one for each
 *   indices          room for nelems; filled with the indices of the words that compared true
 *
 * A call that reports a word lets the caller read what its writer ordered before the update.  Waits
 * block this thread only.  "Nothing to look at" is nelems 0 or all words left out.
 * Spec: OpenSHMEM 1.6 §9.11.
 */
#ifndef SHMEMI_P2P_H
#define SHMEMI_P2P_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* Argument lists, one for each shape. */
#define SHMEMI_WAIT_ARGS(T)     T *ivar, int cmp, T cmp_value
#define SHMEMI_WAIT_SET_ARGS(T) T *ivars, size_t nelems, const int *status, int cmp, T cmp_value
#define SHMEMI_WAIT_SOME_ARGS(T) \
    T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, T cmp_value
#define SHMEMI_WAIT_SET_VECTOR_ARGS(T) \
    T *ivars, size_t nelems, const int *status, int cmp, const T *cmp_values
#define SHMEMI_WAIT_SOME_VECTOR_ARGS(T) \
    T *ivars, size_t nelems, size_t *indices, const int *status, int cmp, const T *cmp_values

/* One row of the table: X(NAME, TYPE, result, operation, argument list). */
#define SHMEMI_DECLARE_WAIT(NAME, T, RET, OP, ARGS) \
    SHMEMI_DECLARE(RET, shmem_##NAME##_##OP, (ARGS(T)))

SHMEMI_BEGIN

/*
 * One word.  wait_until blocks; test returns 1 or 0.  The forms for short and unsigned short are deprecated
 * since 1.5.  Spec: §9.11.1, §9.11.8.
 */
SHMEMI_WAIT_TYPES(SHMEMI_DECLARE_WAIT, void, wait_until, SHMEMI_WAIT_ARGS)
SHMEMI_WAIT_TYPES(SHMEMI_DECLARE_WAIT, int, test, SHMEMI_WAIT_ARGS)

/* All words.  Nothing to look at: wait returns, test gives 1.  Spec: §9.11.2, §9.11.5, §9.11.9, §9.11.12. */
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, void, wait_until_all, SHMEMI_WAIT_SET_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, int, test_all, SHMEMI_WAIT_SET_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, void, wait_until_all_vector, SHMEMI_WAIT_SET_VECTOR_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, int, test_all_vector, SHMEMI_WAIT_SET_VECTOR_ARGS)

/*
 * Any word: the index of one.  SIZE_MAX where there is nothing to look at and, for test, where none
 * compares true.  Spec: §9.11.3, §9.11.6, §9.11.10, §9.11.13.
 */
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, wait_until_any, SHMEMI_WAIT_SET_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, test_any, SHMEMI_WAIT_SET_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, wait_until_any_vector, SHMEMI_WAIT_SET_VECTOR_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, test_any_vector, SHMEMI_WAIT_SET_VECTOR_ARGS)

/*
 * Some words: how many, with their indices in indices.  0 where there is nothing to look at and, for
 * test, where none compares true.  Spec: §9.11.4, §9.11.7, §9.11.11, §9.11.14.
 */
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, wait_until_some, SHMEMI_WAIT_SOME_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, test_some, SHMEMI_WAIT_SOME_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, wait_until_some_vector, SHMEMI_WAIT_SOME_VECTOR_ARGS)
SHMEMI_AMO_STD_TYPES(SHMEMI_DECLARE_WAIT, size_t, test_some_vector, SHMEMI_WAIT_SOME_VECTOR_ARGS)

/* Wait for a signal word; returns the value that compared true.  Spec: §9.11.15. */
SHMEMI_DECLARE(uint64_t, shmem_signal_wait_until, (uint64_t *sig_addr, int cmp, uint64_t cmp_value))

SHMEMI_END

#undef SHMEMI_DECLARE_WAIT

#if SHMEMI_GENERICS && !defined(SHMEMI_TWINS_ONLY)
#define SHMEMI_SELECT_WAIT(OP, ...) \
    SHMEMI_SELECT(SHMEMI_AMO_STD_BASE_TYPES, OP, shmemi_error_not_a_wait_type, __VA_ARGS__)

#define SHMEMI_SELECT_WAIT_ONE(OP, ...) \
    SHMEMI_SELECT(SHMEMI_WAIT_BASE_TYPES, OP, shmemi_error_not_a_wait_type, __VA_ARGS__)

/* A function for long, too (deprecated.h); the generic hides it. */
#define shmem_wait_until(...)             SHMEMI_SELECT_WAIT_ONE(wait_until, __VA_ARGS__)
#define shmem_wait_until_all(...)         SHMEMI_SELECT_WAIT(wait_until_all, __VA_ARGS__)
#define shmem_wait_until_any(...)         SHMEMI_SELECT_WAIT(wait_until_any, __VA_ARGS__)
#define shmem_wait_until_some(...)        SHMEMI_SELECT_WAIT(wait_until_some, __VA_ARGS__)
#define shmem_wait_until_all_vector(...)  SHMEMI_SELECT_WAIT(wait_until_all_vector, __VA_ARGS__)
#define shmem_wait_until_any_vector(...)  SHMEMI_SELECT_WAIT(wait_until_any_vector, __VA_ARGS__)
#define shmem_wait_until_some_vector(...) SHMEMI_SELECT_WAIT(wait_until_some_vector, __VA_ARGS__)
#define shmem_test(...)                   SHMEMI_SELECT_WAIT_ONE(test, __VA_ARGS__)
#define shmem_test_all(...)               SHMEMI_SELECT_WAIT(test_all, __VA_ARGS__)
#define shmem_test_any(...)               SHMEMI_SELECT_WAIT(test_any, __VA_ARGS__)
#define shmem_test_some(...)              SHMEMI_SELECT_WAIT(test_some, __VA_ARGS__)
#define shmem_test_all_vector(...)        SHMEMI_SELECT_WAIT(test_all_vector, __VA_ARGS__)
#define shmem_test_any_vector(...)        SHMEMI_SELECT_WAIT(test_any_vector, __VA_ARGS__)
#define shmem_test_some_vector(...)       SHMEMI_SELECT_WAIT(test_some_vector, __VA_ARGS__)
#endif

/* clang-format on */

#endif
