/* SPDX-License-Identifier: Apache-2.0
 *
 * Each atomic by its name from before 1.4, for each type of its table, in turn with its name of today on the same word: the old value is
 * returned, the new one is at the target, and the words beside it stay. Toward the next PE, and toward the own one.
 * Spec: OpenSHMEM 1.6 §9.7.1.1 shmem_fetch, §9.7.1.2 shmem_set, §9.7.1.3 shmem_cswap, §9.7.1.4 shmem_swap, §9.7.1.5 shmem_finc,
 * §9.7.1.6 shmem_inc, §9.7.1.7 shmem_fadd, §9.7.1.8 shmem_add, §F.2.12
 * PES: 1 2 3
 */
#include "../api.h"

enum { GUARD = 77 };

static int me, n;

/* The word of pe now, fetched by either name; its neighbours untouched. */
#define CHECK_AT(T, NAME, array, wanted, pe)                       \
    do {                                                           \
        T now_[3];                                                 \
        CHECK(shmem_##NAME##_fetch(&array[1], pe) == (T)(wanted)); \
        shmem_##NAME##_get(now_, array, 3, pe);                    \
        CHECK(now_[0] == (T)GUARD && now_[2] == (T)GUARD);         \
        CHECK(now_[1] == (T)(wanted));                             \
    } while (0)

#define EXT(NAME, T, ...)                                          \
    static T    NAME##_ext[3] = {(T)GUARD, (T)5, (T)GUARD};        \
    static void ext_##NAME(int pe)                                 \
    {                                                              \
        T *word = &NAME##_ext[1];                                  \
        CHECK_AT(T, NAME, NAME##_ext, 5, pe);                      \
        shmem_##NAME##_set(word, (T)-6, pe);                       \
        shmem_quiet();                                             \
        CHECK(shmem_##NAME##_atomic_fetch(word, pe) == (T)-6);     \
        shmem_##NAME##_atomic_set(word, (T)7, pe);                 \
        shmem_quiet();                                             \
        CHECK(shmem_##NAME##_swap(word, (T)8, pe) == (T)7);        \
        CHECK(shmem_##NAME##_atomic_swap(word, (T)9, pe) == (T)8); \
        CHECK(shmem_##NAME##_swap(word, (T)5, pe) == (T)9);        \
        CHECK_AT(T, NAME, NAME##_ext, 5, pe);                      \
    }

#define STD(NAME, T, ...)                                                           \
    static T    NAME##_std[3] = {(T)GUARD, (T)5, (T)GUARD};                         \
    static void std_##NAME(int pe)                                                  \
    {                                                                               \
        T *word = &NAME##_std[1];                                                   \
        CHECK(shmem_##NAME##_cswap(word, (T)5, (T)20, pe) == (T)5);                 \
        CHECK(shmem_##NAME##_cswap(word, (T)5, (T)30, pe) == (T)20); /* a miss */   \
        CHECK(shmem_##NAME##_atomic_compare_swap(word, (T)20, (T)21, pe) == (T)20); \
        CHECK(shmem_##NAME##_finc(word, pe) == (T)21);                              \
        CHECK(shmem_##NAME##_atomic_fetch_inc(word, pe) == (T)22);                  \
        shmem_##NAME##_inc(word, pe);                                               \
        shmem_##NAME##_atomic_inc(word, pe);                                        \
        shmem_quiet();                                                              \
        CHECK_AT(T, NAME, NAME##_std, 25, pe);                                      \
        CHECK(shmem_##NAME##_fadd(word, (T)-30, pe) == (T)25);                      \
        CHECK(shmem_##NAME##_atomic_fetch_add(word, (T)3, pe) == (T)-5);            \
        shmem_##NAME##_add(word, (T)5, pe);                                         \
        shmem_##NAME##_atomic_add(word, (T)2, pe);                                  \
        shmem_quiet();                                                              \
        CHECK_AT(T, NAME, NAME##_std, 5, pe);                                       \
    }

/* clang-format off */
SHMEMI_AMO_OLD_EXT_TYPES(EXT, )
SHMEMI_AMO_OLD_STD_TYPES(STD, )
#define CALL_EXT(NAME, T, ...) ext_##NAME(pe);
#define CALL_STD(NAME, T, ...) std_##NAME(pe);
/* clang-format on */

int main(void)
{
    shmem_init();
    me             = shmem_my_pe();
    n              = shmem_n_pes();
    const int to[] = {(me + 1) % n, me};
    for (int i = 0; i < 2; i++) {
        int pe = to[i];
        shmem_barrier_all(); /* each word has one PE at a time that updates it */
        SHMEMI_AMO_OLD_EXT_TYPES(CALL_EXT, )
        SHMEMI_AMO_OLD_STD_TYPES(CALL_STD, )
    }
    shmem_finalize();
    return api_result();
}
