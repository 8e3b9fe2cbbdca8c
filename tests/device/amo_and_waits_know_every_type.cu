/* SPDX-License-Identifier: Apache-2.0
 *
 * Every atomic, of every type and in every form, is atomic among all threads of all PEs, and gives the value that was there. Every wait and test
 * of every type ends with what another PE has stored, and looks at the elements that it should.
 *
 * PES: 1 2 3
 * NODES: a,b a:2,b
 * TSAN: yes
 */
#include "tests/device/device.h"

enum { BLOCKS = 2, THREADS = 8, PER_PE = BLOCKS * THREADS, WORDS = 32 };

__device__ static inline int my_id()
{
    return shmem_my_pe() * PER_PE + (int)(blockIdx.x * blockDim.x + threadIdx.x);
}

#define CTX SHMEM_CTX_DEFAULT

/* ---- add, swap, compare ---------------------------------------------------------------------------------------------- */

/* All threads of all PEs update the words of one PE. Sums of what fetching forms gave are kept beside. */
#define STANDARD_KERNEL(NAME, T, UNUSED)                                                                                           \
    __global__ void standard_##NAME(T *w, T *fetched)                                                                              \
    {                                                                                                                              \
        const int target = shmem_n_pes() - 1;                                                                                      \
        T        *mine   = fetched + 8 * (my_id() % PER_PE), old;                                                                  \
        shmem_##NAME##_atomic_inc(w, target);                                                                                      \
        shmem_ctx_##NAME##_atomic_inc(CTX, w, target);                                                                             \
        old = (T)(shmem_##NAME##_atomic_fetch_inc(w + 1, target) + shmem_ctx_##NAME##_atomic_fetch_inc(CTX, w + 1, target));       \
        shmem_##NAME##_atomic_add(w + 2, old, target);                                                                             \
        shmem_##NAME##_atomic_add(w + 3, 3, target);                                                                               \
        shmem_ctx_##NAME##_atomic_add(CTX, w + 3, 3, target);                                                                      \
        old = (T)(shmem_##NAME##_atomic_fetch_add(w + 4, 3, target) + shmem_ctx_##NAME##_atomic_fetch_add(CTX, w + 4, 3, target)); \
        shmem_##NAME##_atomic_add(w + 5, old, target);                                                                             \
        for (T seen = 0, next; (next = shmem_##NAME##_atomic_compare_swap(w + 6, seen, (T)(seen + 1), target)) != seen;)           \
            seen = next;                                                                                                           \
        for (T seen = 0, next; (next = shmem_ctx_##NAME##_atomic_compare_swap(CTX, w + 6, seen, (T)(seen + 1), target)) != seen;)  \
            seen = next;                                                                                                           \
        shmem_##NAME##_atomic_fetch_inc_nbi(mine, w + 7, target);                                                                  \
        shmem_ctx_##NAME##_atomic_fetch_inc_nbi(CTX, mine + 1, w + 7, target);                                                     \
        shmem_##NAME##_atomic_fetch_add_nbi(mine + 2, w + 8, 2, target);                                                           \
        shmem_ctx_##NAME##_atomic_fetch_add_nbi(CTX, mine + 3, w + 8, 2, target);                                                  \
        shmem_##NAME##_atomic_compare_swap_nbi(mine + 4, w + 9, 0, 7, target);                                                     \
        shmem_ctx_##NAME##_atomic_compare_swap_nbi(CTX, mine + 5, w + 10, 0, 7, target);                                           \
        shmem_quiet();                                                                                                             \
        shmem_##NAME##_atomic_add(w + 11, (T)(mine[0] + mine[1]), target);                                                         \
        shmem_##NAME##_atomic_add(w + 12, (T)(mine[2] + mine[3]), target);                                                         \
        shmem_##NAME##_atomic_add(w + 13, (T)((mine[4] == 0) + (mine[5] == 0)), target);                                           \
        shmem_quiet();                                                                                                             \
    }                                                                                                                              \
    __global__ void standard_look_##NAME(T *w)                                                                                     \
    {                                                                                                                              \
        if (shmem_my_pe() != shmem_n_pes() - 1) return;                                                                            \
        const long n = 2L * PER_PE * shmem_n_pes(), olds = n * (n - 1) / 2;                                                        \
        CHECK_AND((long)w[0] == n && (long)w[1] == n && (long)w[2] == olds, #NAME);                                                \
        CHECK_AND((long)w[3] == 3 * n && (long)w[4] == 3 * n && (long)w[5] == 3 * olds, #NAME);                                    \
        CHECK_AND((long)w[6] == n && (long)w[7] == n && (long)w[8] == 2 * n, #NAME);                                               \
        CHECK_AND((long)w[9] == 7 && (long)w[10] == 7, #NAME);                                                                     \
        CHECK_AND((long)w[11] == olds && (long)w[12] == 2 * olds && (long)w[13] == 2, #NAME);                                      \
    }

/* Swaps: each value that was put in comes out once, or is what is left. */
#define EXTENDED_KERNEL(NAME, T, UNUSED)                                                                                            \
    __global__ void extended_##NAME(T *w, T *fetched, int *sum)                                                                     \
    {                                                                                                                               \
        const int target = shmem_n_pes() - 1, id = my_id() + 1;                                                                     \
        T        *mine = fetched + 8 * (my_id() % PER_PE);                                                                          \
        T         old  = (T)(shmem_##NAME##_atomic_swap(w, (T)id, target) + shmem_ctx_##NAME##_atomic_swap(CTX, w, (T)id, target)); \
        shmem_##NAME##_atomic_swap_nbi(mine, w, (T)id, target);                                                                     \
        shmem_ctx_##NAME##_atomic_swap_nbi(CTX, mine + 1, w, (T)id, target);                                                        \
        shmem_quiet();                                                                                                              \
        shmem_int_atomic_add(sum, (int)old + (int)mine[0] + (int)mine[1], target);                                                  \
        shmem_##NAME##_atomic_set(w + 1, (T)5, target);                                                                             \
        shmem_ctx_##NAME##_atomic_set(CTX, w + 2, (T)6, target);                                                                    \
        shmem_quiet();                                                                                                              \
        shmem_##NAME##_atomic_fetch_nbi(mine + 2, w + 1, target);                                                                   \
        shmem_ctx_##NAME##_atomic_fetch_nbi(CTX, mine + 3, w + 2, target);                                                          \
        CHECK_AND(shmem_##NAME##_atomic_fetch(w + 1, target) == (T)5, #NAME);                                                       \
        CHECK_AND(shmem_ctx_##NAME##_atomic_fetch(CTX, w + 2, target) == (T)6, #NAME);                                              \
        shmem_quiet();                                                                                                              \
        CHECK_AND(mine[2] == (T)5 && mine[3] == (T)6, #NAME);                                                                       \
    }                                                                                                                               \
    __global__ void extended_look_##NAME(T *w, int *sum)                                                                            \
    {                                                                                                                               \
        const int n = PER_PE * shmem_n_pes();                                                                                       \
        if (shmem_my_pe() == shmem_n_pes() - 1) CHECK_AND((int)w[0] + *sum == 4 * (n * (n + 1) / 2), #NAME);                        \
    }

/* ---- bits ------------------------------------------------------------------------------------------------------------ */

/* Each PE has one thread for each of 16 bits. Words 0-5 are or'ed, 6-11 and'ed, 12-17 xor'ed, each in its six forms. */
#define BITS(NAME, OP, FIRST, VALUE)                                                             \
    shmem_##NAME##_atomic_##OP(w + FIRST, VALUE, target);                                        \
    shmem_ctx_##NAME##_atomic_##OP(CTX, w + FIRST + 1, VALUE, target);                           \
    old = shmem_##NAME##_atomic_fetch_##OP(w + FIRST + 2, VALUE, target);                        \
    CHECK_AND((OP##_is_done(shmem_##NAME##_atomic_fetch(w + FIRST + 2, target), VALUE)), #NAME); \
    old = shmem_ctx_##NAME##_atomic_fetch_##OP(CTX, w + FIRST + 3, VALUE, target);               \
    shmem_##NAME##_atomic_fetch_##OP##_nbi(mine, w + FIRST + 4, VALUE, target);                  \
    shmem_ctx_##NAME##_atomic_fetch_##OP##_nbi(CTX, mine + 1, w + FIRST + 5, VALUE, target);     \
    shmem_quiet();                                                                               \
    (void)old;
#define or_is_done(WORD, VALUE)  (((WORD) & (VALUE)) == (VALUE))
#define and_is_done(WORD, VALUE) (((WORD) & ~(VALUE)) == 0)
#define xor_is_done(WORD, VALUE) true

#define BITWISE_KERNEL(NAME, T, UNUSED)                                            \
    __global__ void bitwise_##NAME(T *w, T *fetched)                               \
    {                                                                              \
        const int target = shmem_n_pes() - 1;                                      \
        T        *mine   = fetched + 8 * (my_id() % PER_PE), old;                  \
        const T   bit = (T)1 << (my_id() % PER_PE), others = (T)~bit;              \
        BITS(NAME, or, 0, bit)                                                     \
        BITS(NAME, and, 6, others)                                                 \
        BITS(NAME, xor, 12, bit)                                                   \
    }                                                                              \
    __global__ void bitwise_look_##NAME(T *w)                                      \
    {                                                                              \
        if (shmem_my_pe() != shmem_n_pes() - 1) return;                            \
        for (int form = 0; form < 6; form++) {                                     \
            CHECK_AND(w[form] == (T)0xffff, #NAME);                                \
            CHECK_AND(w[6 + form] == (T)0x70000, #NAME);                           \
            CHECK_AND(w[12 + form] == (T)(shmem_n_pes() % 2 ? 0xffff : 0), #NAME); \
        }                                                                          \
    }

template <class T> __global__ void all_ones(T *w)
{
    for (int form = 0; form < 6; form++) w[6 + form] = (T)0x7ffff;
}

/* ---- waits ----------------------------------------------------------------------------------------------------------- */

/* The second block stores into the words of the next PE, in steps; the first waits for what the PE before it stores. */
#define WAIT_KERNEL(NAME, T, UNUSED)                                                                            \
    __global__ void wait_##NAME(T *w)                                                                           \
    {                                                                                                           \
        const int next = (shmem_my_pe() + 1) % shmem_n_pes();                                                   \
        if (blockIdx.x == 1) {                                                                                  \
            shmem_putmem(w, w + 8, sizeof(T), next); /* 1 */                                                    \
            shmem_fence();                                                                                      \
            shmem_putmem(w + 1, w + 9, sizeof(T), next); /* 5 */                                                \
            shmem_quiet();                                                                                      \
            return;                                                                                             \
        }                                                                                                       \
        shmem_##NAME##_wait_until(w + 1, SHMEM_CMP_EQ, 5);                                                      \
        CHECK_AND(shmem_##NAME##_test(w, SHMEM_CMP_EQ, 1), #NAME); /* the fence was between */                  \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_NE, 0);                                                          \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_GT, 0);                                                          \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_GE, 1);                                                          \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_LT, 2);                                                          \
        shmem_##NAME##_wait_until(w, SHMEM_CMP_LE, 1);                                                          \
        CHECK_AND(!shmem_##NAME##_test(w, SHMEM_CMP_NE, 1) && !shmem_##NAME##_test(w, SHMEM_CMP_GT, 1), #NAME); \
        CHECK_AND(!shmem_##NAME##_test(w, SHMEM_CMP_LT, 1) && !shmem_##NAME##_test(w, SHMEM_CMP_GE, 2), #NAME); \
        CHECK_AND(!shmem_##NAME##_test(w, SHMEM_CMP_LE, 0), #NAME);                                             \
    }

/* Words: 0, 3, 0, 4, 0, 0 when all have come. Of them status leaves out number 3. */
#define WAITS_KERNEL(NAME, T, UNUSED)                                                                                     \
    __global__ void waits_##NAME(T *w)                                                                                    \
    {                                                                                                                     \
        const int next = (shmem_my_pe() + 1) % shmem_n_pes(), status[6] = {0, 0, 0, 1, 0, 0};                             \
        const int all_but_two[6] = {1, 0, 1, 0, 1, 1}, none[6] = {1, 1, 1, 1, 1, 1};                                      \
        const T   values[6] = {9, 3, 9, 4, 9, 9};                                                                         \
        size_t    indices[6];                                                                                             \
        if (blockIdx.x == 1) {                                                                                            \
            shmem_##NAME##_p(w + 1, 3, next);                                                                             \
            shmem_fence();                                                                                                \
            shmem_##NAME##_p(w + 3, 4, next);                                                                             \
            shmem_quiet();                                                                                                \
            return;                                                                                                       \
        }                                                                                                                 \
        CHECK_AND(shmem_##NAME##_wait_until_any(w, 6, status, SHMEM_CMP_GT, 0) == 1, #NAME);                              \
        CHECK_AND(shmem_##NAME##_wait_until_any_vector(w, 6, status, SHMEM_CMP_EQ, values) == 1, #NAME);                  \
        CHECK_AND(shmem_##NAME##_wait_until_some(w, 6, indices, status, SHMEM_CMP_EQ, 3) == 1 && indices[0] == 1, #NAME); \
        shmem_##NAME##_wait_until_all(w, 6, all_but_two, SHMEM_CMP_GE, 3);                                                \
        shmem_##NAME##_wait_until_all_vector(w, 6, all_but_two, SHMEM_CMP_EQ, values);                                    \
        CHECK_AND(shmem_##NAME##_wait_until_some_vector(w, 6, indices, NULL, SHMEM_CMP_EQ, values) == 2, #NAME);          \
        CHECK_AND(indices[0] == 1 && indices[1] == 3, #NAME);                                                             \
        CHECK_AND(shmem_##NAME##_wait_until_any(w, 6, none, SHMEM_CMP_EQ, 3) == SIZE_MAX, #NAME);                         \
        CHECK_AND(shmem_##NAME##_wait_until_some(w, 0, indices, NULL, SHMEM_CMP_EQ, 3) == 0, #NAME);                      \
        CHECK_AND(shmem_##NAME##_test_all(w, 6, all_but_two, SHMEM_CMP_GE, 3), #NAME);                                    \
        CHECK_AND(!shmem_##NAME##_test_all(w, 6, status, SHMEM_CMP_GE, 3), #NAME);                                        \
        CHECK_AND(shmem_##NAME##_test_all_vector(w, 6, all_but_two, SHMEM_CMP_EQ, values), #NAME);                        \
        CHECK_AND(shmem_##NAME##_test_any(w, 6, NULL, SHMEM_CMP_EQ, 4) == 3, #NAME);                                      \
        CHECK_AND(shmem_##NAME##_test_any(w, 6, status, SHMEM_CMP_EQ, 4) == SIZE_MAX, #NAME);                             \
        CHECK_AND(shmem_##NAME##_test_any_vector(w, 6, NULL, SHMEM_CMP_EQ, values) == 1, #NAME);                          \
        CHECK_AND(shmem_##NAME##_test_some(w, 6, indices, NULL, SHMEM_CMP_LT, 1) == 4 && indices[3] == 5, #NAME);         \
        CHECK_AND(shmem_##NAME##_test_some_vector(w, 6, indices, NULL, SHMEM_CMP_NE, values) == 4, #NAME);                \
    }

template <class T> __global__ void prepare_wait(T *w)
{
    w[8] = 1;
    w[9] = 5;
}

/* clang-format off */
SHMEMI_AMO_STD_TYPES(STANDARD_KERNEL, 0)
SHMEMI_AMO_EXT_TYPES(EXTENDED_KERNEL, 0)
SHMEMI_AMO_BIT_TYPES(BITWISE_KERNEL, 0)
SHMEMI_WAIT_TYPES(WAIT_KERNEL, 0)
SHMEMI_AMO_STD_TYPES(WAITS_KERNEL, 0)
/* clang-format on */

/* Each type and group has words of its own, all of 0 at the start, and memory for what nonblocking forms fetch. */
#define RUN_STANDARD(NAME, T, UNUSED)                                           \
    DEVICE_RUN(pe, standard_##NAME, BLOCKS, THREADS, (T *)words, (T *)fetched); \
    DEVICE_RUN(pe, standard_look_##NAME, 1, 1, (T *)words);                     \
    words += WORDS;
#define RUN_EXTENDED(NAME, T, UNUSED)                                                                \
    DEVICE_RUN(pe, extended_##NAME, BLOCKS, THREADS, (T *)words, (T *)fetched, (int *)(words + 16)); \
    DEVICE_RUN(pe, extended_look_##NAME, 1, 1, (T *)words, (int *)(words + 16));                     \
    words += WORDS;
#define RUN_BITWISE(NAME, T, UNUSED)                                           \
    DEVICE_RUN(pe, all_ones<T>, 1, 1, (T *)words);                             \
    DEVICE_RUN(pe, bitwise_##NAME, BLOCKS, THREADS, (T *)words, (T *)fetched); \
    DEVICE_RUN(pe, bitwise_look_##NAME, 1, 1, (T *)words);                     \
    words += WORDS;
#define RUN_WAIT(NAME, T, UNUSED)                      \
    DEVICE_RUN(pe, prepare_wait<T>, 1, 1, (T *)words); \
    DEVICE_RUN(pe, wait_##NAME, 2, 1, (T *)words);     \
    words += WORDS;
#define RUN_WAITS(NAME, T, UNUSED)                  \
    DEVICE_RUN(pe, waits_##NAME, 2, 1, (T *)words); \
    words += WORDS;

static void test(struct device_pe *pe)
{
    uint64_t *words   = (uint64_t *)device_allocate(pe, 64 * WORDS * 8);
    void     *fetched = device_allocate(pe, PER_PE * 8 * 8);
    SHMEMI_AMO_STD_TYPES(RUN_STANDARD, 0)
    SHMEMI_AMO_EXT_TYPES(RUN_EXTENDED, 0)
    SHMEMI_AMO_BIT_TYPES(RUN_BITWISE, 0)
    SHMEMI_WAIT_TYPES(RUN_WAIT, 0)
    SHMEMI_AMO_STD_TYPES(RUN_WAITS, 0)
}
