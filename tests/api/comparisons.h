/* SPDX-License-Identifier: Apache-2.0
 *
 * The comparisons of waits, as C has them.
 */
#ifndef POSTERN_TESTS_API_COMPARISONS_H
#define POSTERN_TESTS_API_COMPARISONS_H

#include "api.h"

static const int operators[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

#define HOLDS(a, cmp, b)                  \
    ((cmp) == SHMEM_CMP_EQ   ? (a) == (b) \
     : (cmp) == SHMEM_CMP_NE ? (a) != (b) \
     : (cmp) == SHMEM_CMP_GT ? (a) > (b)  \
     : (cmp) == SHMEM_CMP_GE ? (a) >= (b) \
     : (cmp) == SHMEM_CMP_LT ? (a) < (b)  \
                             : (a) <= (b))

/* The highest bit: the least signed value, the greatest half of the unsigned ones. */
#define TOP(T) ((T)(UINT64_C(1) << (sizeof(T) * 8 - 1)))

#endif
