/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the reductions for all types, and the table in which they are found: for one set of instructions. Included
 * once per set by reduce_loops*.c, which define before:
 *
 *   LOOPS_TABLE    name of the table
 *   LOOPS_TARGET   attribute of each function
 *
 * Types of equal representation share one loop; sums, products and bit operations do not tell signed from unsigned.
 */
#include <stdint.h>

/*
 * For the compiler: into is one of the operands or overlaps neither, so no element depends on an earlier one. clang warns
 * where it cannot make vector code all the same: long double, and complex products with their infinities.
 */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define SHMEMI_SAME_OR_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define SHMEMI_SAME_OR_APART _Pragma("GCC ivdep")
#endif

/* Boxes are aligned for words of 8 bytes. */
typedef long double long_double_of_8 __attribute__((aligned(8)));

/* clang-format off */

#define KIND  i8
#define ELEM  int8_t
#define WIDE  int8_t
#define BITS  0
#define ORDER 1
#define ARITH 0
#include "runtime/coll/reduce_tmpl.h"

#define KIND  i16
#define ELEM  int16_t
#define WIDE  int16_t
#define BITS  0
#define ORDER 1
#define ARITH 0
#include "runtime/coll/reduce_tmpl.h"

#define KIND  i32
#define ELEM  int32_t
#define WIDE  int32_t
#define BITS  0
#define ORDER 1
#define ARITH 0
#include "runtime/coll/reduce_tmpl.h"

#define KIND  i64
#define ELEM  int64_t
#define WIDE  int64_t
#define BITS  0
#define ORDER 1
#define ARITH 0
#include "runtime/coll/reduce_tmpl.h"

#define KIND  u8
#define ELEM  uint8_t
#define WIDE  unsigned
#define BITS  1
#define ORDER 1
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  u16
#define ELEM  uint16_t
#define WIDE  unsigned /* not uint16_t, whose product would be one of int, and overflow */
#define BITS  1
#define ORDER 1
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  u32
#define ELEM  uint32_t
#define WIDE  uint32_t
#define BITS  1
#define ORDER 1
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  u64
#define ELEM  uint64_t
#define WIDE  uint64_t
#define BITS  1
#define ORDER 1
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  f32
#define ELEM  float
#define WIDE  float
#define BITS  0
#define ORDER 1
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  f64
#define ELEM  double
#define WIDE  double
#define BITS  0
#define ORDER 1
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  fl
#define ELEM  long_double_of_8
#define WIDE  long double
#define BITS  0
#define ORDER 1
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  c32
#define ELEM  float _Complex
#define WIDE  float _Complex
#define BITS  0
#define ORDER 0
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"

#define KIND  c64
#define ELEM  double _Complex
#define WIDE  double _Complex
#define BITS  0
#define ORDER 0
#define ARITH 1
#include "runtime/coll/reduce_tmpl.h"


#define INT_ROW(OP, SIGNED)                                             \
    [SHMEMI_REDUCE_I8]  = {OP##_##SIGNED##8, sizeof(int8_t)},           \
    [SHMEMI_REDUCE_I16] = {OP##_##SIGNED##16, sizeof(int16_t)},         \
    [SHMEMI_REDUCE_I32] = {OP##_##SIGNED##32, sizeof(int32_t)},         \
    [SHMEMI_REDUCE_I64] = {OP##_##SIGNED##64, sizeof(int64_t)},         \
    [SHMEMI_REDUCE_U8]  = {OP##_u8, sizeof(uint8_t)},                   \
    [SHMEMI_REDUCE_U16] = {OP##_u16, sizeof(uint16_t)},                 \
    [SHMEMI_REDUCE_U32] = {OP##_u32, sizeof(uint32_t)},                 \
    [SHMEMI_REDUCE_U64] = {OP##_u64, sizeof(uint64_t)}
#define REAL_ROW(OP)                                                    \
    [SHMEMI_REDUCE_F32] = {OP##_f32, sizeof(float)},                    \
    [SHMEMI_REDUCE_F64] = {OP##_f64, sizeof(double)},                   \
    [SHMEMI_REDUCE_FL]  = {OP##_fl, sizeof(long double)}
#define COMPLEX_ROW(OP)                                                 \
    [SHMEMI_REDUCE_C32] = {OP##_c32, sizeof(float _Complex)},           \
    [SHMEMI_REDUCE_C64] = {OP##_c64, sizeof(double _Complex)}

const struct shmemi_reduce_op LOOPS_TABLE[SHMEMI_REDUCE_OPS][SHMEMI_REDUCE_KINDS] = {
    [SHMEMI_REDUCE_AND]  = {INT_ROW(and, u)},
    [SHMEMI_REDUCE_OR]   = {INT_ROW(or, u)},
    [SHMEMI_REDUCE_XOR]  = {INT_ROW(xor, u)},
    [SHMEMI_REDUCE_MAX]  = {INT_ROW(max, i), REAL_ROW(max)},
    [SHMEMI_REDUCE_MIN]  = {INT_ROW(min, i), REAL_ROW(min)},
    [SHMEMI_REDUCE_SUM]  = {INT_ROW(sum, u), REAL_ROW(sum), COMPLEX_ROW(sum)},
    [SHMEMI_REDUCE_PROD] = {INT_ROW(prod, u), REAL_ROW(prod), COMPLEX_ROW(prod)},
};

/* clang-format on */
