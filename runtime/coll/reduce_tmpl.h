/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of the reductions over one type. Included once per type by reduce_set.h, which defines before, and this file
 * undefines:
 *
 *   KIND   the end of the functions' names: sum_f64
 *   ELEM   type of an element
 *   WIDE   type in which sums and products are computed: unsigned where ELEM is an integer, so that they wrap
 *   BITS, ORDER, ARITH   1: with and, or, xor; with max, min; with sum, prod. Else 0
 */

#define LOOP_NAMED(OP, KIND_) OP##_##KIND_
#define LOOP_NAME(OP, KIND_)  LOOP_NAMED(OP, KIND_)
#define LOOP(OP, RESULT)                                                                                           \
    static LOOPS_TARGET void LOOP_NAME(OP, KIND)(void *into, const void *first, const void *second, size_t nelems) \
    {                                                                                                              \
        const ELEM *a = first, *b = second;                                                                        \
        ELEM       *r = into;                                                                                      \
        SHMEMI_SAME_OR_APART                                                                                       \
        for (size_t i = 0; i < nelems; i++) r[i] = (ELEM)(RESULT);                                                 \
    }

#if BITS
LOOP(and, a[i] & b[i])
LOOP(or, a[i] | b[i])
LOOP(xor, a[i] ^ b[i])
#endif
#if ORDER
LOOP(max, a[i] > b[i] ? a[i] : b[i])
LOOP(min, a[i] < b[i] ? a[i] : b[i])
#endif
#if ARITH
LOOP(sum, (WIDE)a[i] + (WIDE)b[i])
LOOP(prod, (WIDE)a[i] * (WIDE)b[i])
#endif

#undef LOOP
#undef LOOP_NAME
#undef LOOP_NAMED
#undef KIND
#undef ELEM
#undef WIDE
#undef BITS
#undef ORDER
#undef ARITH
