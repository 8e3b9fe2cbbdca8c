/* SPDX-License-Identifier: Apache-2.0
 *
 * Each reduction and scan of each type, over a team and over an active set, against a computation by one: no elements,
 * one, a few, and about as many as the smallest ways can carry.  source stays as it was, and so does what lies behind
 * dest.
 * Spec: OpenSHMEM 1.6 §9.10.9 Reductions, §9.10.9.1 to §9.10.9.7, §9.10.10 Scans, §F.2.14 to_all
 * PES: 1 2 3 4 8 11
 * NOCHAOS: a route carries bytes, whatever their type; arrays_of_any_size_and_place goes over all routes
 */
#include "ways.h"

#include <complex.h>

enum { BOX_BYTES = 120, ELEMS_MAX = BOX_BYTES + 1, GUARDS = 4, GUARD = 0x5a };

static int   me, npes;
static long  psync[SHMEM_REDUCE_SYNC_SIZE];
static void *dest_block, *source_block, *work_block;

/* Small, of both signs; and products stay small: with 16 PEs four of them have a 2. */
static long sum_value(int pe, size_t i)
{
    return (long)(ways_bits((uint64_t)pe, i) % 7) - 3;
}

static long prod_value(int pe, size_t i)
{
    return ((size_t)pe + i) % 4 == 0 ? 2 : ways_bits((uint64_t)pe, i) % 3 == 0 ? -1 : 1;
}

static bool guards_hold(const void *behind, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (((const unsigned char *)behind)[i] != GUARD) return false;
    return true;
}

/* clang-format off */

/*
 * One function per operation and type. VALUE(T, pe, i): an element. FOLD(result, T, i): the statement that computes
 * the result. CALL: the call itself, on dest, source, n.
 */
#define TRY(NAME, T, OP, VALUE, FOLD, CALL)                                                           \
    static void try_##NAME##_##OP(size_t n)                                                           \
    {                                                                                                 \
        T *dest = dest_block, *source = source_block;                                                 \
        memset(dest, GUARD, (n + GUARDS) * sizeof(T));                                                \
        for (size_t i = 0; i < n; i++) source[i] = VALUE(T, me, i);                                   \
        shmem_sync_all(); /* all dests are ready */                                                   \
        CALL;                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                              \
            T wanted;                                                                                 \
            FOLD(wanted, T, i);                                                                       \
            if (!CHECK(dest[i] == wanted) || !CHECK(source[i] == VALUE(T, me, i))) {                  \
                fprintf(stderr, "PE %d: shmem_%s_%s, element %zu of %zu\n", me, #NAME, #OP, i, n);    \
                break;                                                                                \
            }                                                                                         \
        }                                                                                             \
        CHECK(guards_hold(dest + n, GUARDS * sizeof(T)));                                             \
        shmem_sync_all(); /* all have looked: dest may change */                                      \
    }
#define TEAM(NAME, OP) CHECK_EQUAL(shmem_##NAME##_##OP(SHMEM_TEAM_WORLD, n ? dest : NULL, n ? source : NULL, n), 0)
#define SET(NAME, OP)  shmem_##NAME##_##OP(dest, source, (int)n, 0, 0, npes, work_block, psync)

/* All bits of the type, for what is joined bit by bit or compared. */
#define SIGNED(T, pe, i)           ((T)(int64_t)ways_bits((uint64_t)(pe), (i)))
#define FOLD_BY(result, T, i, STEP)                                                                   \
    result = SIGNED(T, 0, i);                                                                         \
    for (int pe = 1; pe < npes; pe++) { T next = SIGNED(T, pe, i); STEP; }
#define FOLD_AND(result, T, i)     FOLD_BY(result, T, i, result = (T)(result & next))
#define FOLD_OR(result, T, i)      FOLD_BY(result, T, i, result = (T)(result | next))
#define FOLD_XOR(result, T, i)     FOLD_BY(result, T, i, result = (T)(result ^ next))
#define FOLD_MAX(result, T, i)     FOLD_BY(result, T, i, if (next > result) result = next)
#define FOLD_MIN(result, T, i)     FOLD_BY(result, T, i, if (next < result) result = next)

/* Small numbers, so that a long has the result, whatever the type, and so that rounding is no matter. */
#define SUM(T, pe, i)              ((T)sum_value((pe), (i)))
#define PROD(T, pe, i)             ((T)prod_value((pe), (i)))
#define FOLD_LONG(result, T, FIRST, END, STEP)                                                        \
    long exact = FIRST;                                                                               \
    for (int pe = 0; pe < (END); pe++) STEP;                                                          \
    result = (T)exact
#define FOLD_SUM(result, T, i)     FOLD_LONG(result, T, 0, npes, exact += sum_value(pe, i))
#define FOLD_PROD(result, T, i)    FOLD_LONG(result, T, 1, npes, exact *= prod_value(pe, i))
#define FOLD_INSCAN(result, T, i)  FOLD_LONG(result, T, 0, me + 1, exact += sum_value(pe, i))
#define FOLD_EXSCAN(result, T, i)  FOLD_LONG(result, T, 0, me, exact += sum_value(pe, i))

/* Complex numbers with both parts. */
#define C_SUM(T, pe, i)            ((T)sum_value((pe), (i)) + (T)sum_value((pe), (i) + 1000) * (T)I)
#define C_PROD(T, pe, i)           ((T)prod_value((pe), (i)) + (T)(((pe) + (int)(i)) % 3 ? 0 : 1) * (T)I)
#define C_FOLD_SUMS(result, T, i, END)                                                                \
    result = 0;                                                                                       \
    for (int pe = 0; pe < (END); pe++) result += C_SUM(T, pe, i)
#define C_FOLD_SUM(result, T, i)    C_FOLD_SUMS(result, T, i, npes)
#define C_FOLD_INSCAN(result, T, i) C_FOLD_SUMS(result, T, i, me + 1)
#define C_FOLD_EXSCAN(result, T, i) C_FOLD_SUMS(result, T, i, me)
#define C_FOLD_PROD(result, T, i)                                                                     \
    result = 1;                                                                                       \
    for (int pe = 0; pe < npes; pe++) result *= C_PROD(T, pe, i)

#define TRY_AND(NAME, T, OP, CALL)    TRY(NAME, T, OP, SIGNED, FOLD_AND, CALL(NAME, OP))
#define TRY_OR(NAME, T, OP, CALL)     TRY(NAME, T, OP, SIGNED, FOLD_OR, CALL(NAME, OP))
#define TRY_XOR(NAME, T, OP, CALL)    TRY(NAME, T, OP, SIGNED, FOLD_XOR, CALL(NAME, OP))
#define TRY_MAX(NAME, T, OP, CALL)    TRY(NAME, T, OP, SIGNED, FOLD_MAX, CALL(NAME, OP))
#define TRY_MIN(NAME, T, OP, CALL)    TRY(NAME, T, OP, SIGNED, FOLD_MIN, CALL(NAME, OP))
#define TRY_SUM(NAME, T, OP, CALL)    TRY(NAME, T, OP, SUM, FOLD_SUM, CALL(NAME, OP))
#define TRY_PROD(NAME, T, OP, CALL)   TRY(NAME, T, OP, PROD, FOLD_PROD, CALL(NAME, OP))
#define TRY_INSCAN(NAME, T, OP, CALL) TRY(NAME, T, OP, SUM, FOLD_INSCAN, CALL(NAME, OP))
#define TRY_EXSCAN(NAME, T, OP, CALL) TRY(NAME, T, OP, SUM, FOLD_EXSCAN, CALL(NAME, OP))
#define TRY_C_SUM(NAME, T, OP, CALL)  TRY(NAME, T, OP, C_SUM, C_FOLD_SUM, CALL(NAME, OP))
#define TRY_C_PROD(NAME, T, OP, CALL) TRY(NAME, T, OP, C_PROD, C_FOLD_PROD, CALL(NAME, OP))
#define TRY_C_INSCAN(NAME, T, OP, CALL) TRY(NAME, T, OP, C_SUM, C_FOLD_INSCAN, CALL(NAME, OP))
#define TRY_C_EXSCAN(NAME, T, OP, CALL) TRY(NAME, T, OP, C_SUM, C_FOLD_EXSCAN, CALL(NAME, OP))

SHMEMI_REDUCE_BIT_TYPES(TRY_AND, and_reduce, TEAM)
SHMEMI_REDUCE_BIT_TYPES(TRY_OR, or_reduce, TEAM)
SHMEMI_REDUCE_BIT_TYPES(TRY_XOR, xor_reduce, TEAM)
SHMEMI_REDUCE_ARITH_TYPES(TRY_MAX, max_reduce, TEAM)
SHMEMI_REDUCE_ARITH_TYPES(TRY_MIN, min_reduce, TEAM)
SHMEMI_REDUCE_ARITH_TYPES(TRY_SUM, sum_reduce, TEAM)
SHMEMI_REDUCE_ARITH_TYPES(TRY_PROD, prod_reduce, TEAM)
SHMEMI_REDUCE_ARITH_TYPES(TRY_INSCAN, sum_inscan, TEAM)
SHMEMI_REDUCE_ARITH_TYPES(TRY_EXSCAN, sum_exscan, TEAM)
SHMEMI_COMPLEX_TYPES(TRY_C_SUM, sum_reduce, TEAM)
SHMEMI_COMPLEX_TYPES(TRY_C_PROD, prod_reduce, TEAM)
SHMEMI_COMPLEX_TYPES(TRY_C_INSCAN, sum_inscan, TEAM)
SHMEMI_COMPLEX_TYPES(TRY_C_EXSCAN, sum_exscan, TEAM)
SHMEMI_TO_ALL_BIT_TYPES(TRY_AND, and_to_all, SET)
SHMEMI_TO_ALL_BIT_TYPES(TRY_OR, or_to_all, SET)
SHMEMI_TO_ALL_BIT_TYPES(TRY_XOR, xor_to_all, SET)
SHMEMI_TO_ALL_ARITH_TYPES(TRY_MAX, max_to_all, SET)
SHMEMI_TO_ALL_ARITH_TYPES(TRY_MIN, min_to_all, SET)
SHMEMI_TO_ALL_ARITH_TYPES(TRY_SUM, sum_to_all, SET)
SHMEMI_TO_ALL_ARITH_TYPES(TRY_PROD, prod_to_all, SET)
SHMEMI_COMPLEX_TYPES(TRY_C_SUM, sum_to_all, SET)
SHMEMI_COMPLEX_TYPES(TRY_C_PROD, prod_to_all, SET)

#define ENTRY(NAME, T, OP) {try_##NAME##_##OP, sizeof(T)},
static const struct {
    void (*run)(size_t n);
    size_t elem_bytes;
} tries[] = {
    SHMEMI_REDUCE_BIT_TYPES(ENTRY, and_reduce)
    SHMEMI_REDUCE_BIT_TYPES(ENTRY, or_reduce)
    SHMEMI_REDUCE_BIT_TYPES(ENTRY, xor_reduce)
    SHMEMI_REDUCE_ARITH_TYPES(ENTRY, max_reduce)
    SHMEMI_REDUCE_ARITH_TYPES(ENTRY, min_reduce)
    SHMEMI_REDUCE_SUM_TYPES(ENTRY, sum_reduce)
    SHMEMI_REDUCE_SUM_TYPES(ENTRY, prod_reduce)
    SHMEMI_REDUCE_SUM_TYPES(ENTRY, sum_inscan)
    SHMEMI_REDUCE_SUM_TYPES(ENTRY, sum_exscan)
    SHMEMI_TO_ALL_BIT_TYPES(ENTRY, and_to_all)
    SHMEMI_TO_ALL_BIT_TYPES(ENTRY, or_to_all)
    SHMEMI_TO_ALL_BIT_TYPES(ENTRY, xor_to_all)
    SHMEMI_TO_ALL_ARITH_TYPES(ENTRY, max_to_all)
    SHMEMI_TO_ALL_ARITH_TYPES(ENTRY, min_to_all)
    SHMEMI_TO_ALL_SUM_TYPES(ENTRY, sum_to_all)
    SHMEMI_TO_ALL_SUM_TYPES(ENTRY, prod_to_all)
};

/* clang-format on */

static void try_all(void)
{
    me           = shmem_my_pe();
    npes         = shmem_n_pes();
    dest_block   = shmem_malloc((ELEMS_MAX + GUARDS) * sizeof(long double));
    source_block = shmem_malloc(ELEMS_MAX * sizeof(long double));
    work_block   = shmem_malloc((ELEMS_MAX + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * sizeof(long double));
    for (int i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i++) psync[i] = SHMEM_SYNC_VALUE;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        size_t       box     = BOX_BYTES / tries[i].elem_bytes;
        const size_t sizes[] = {0, 1, 3, box - 1, box, box + 1};
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) tries[i].run(sizes[k]);
    }
    shmem_free(dest_block);
    shmem_free(source_block);
    shmem_free(work_block);
}

int main(void)
{
    ways_each(try_all);
    return api_result();
}
