/* SPDX-License-Identifier: Apache-2.0
 *
 * The generics of the old atomics take each type of their table, in turn with those of today on the same words.
 * Spec: OpenSHMEM 1.6 §9.7.1.1 shmem_fetch, §9.7.1.2 shmem_set, §9.7.1.3 shmem_cswap, §9.7.1.4 shmem_swap, §9.7.1.5 shmem_finc,
 * §9.7.1.6 shmem_inc, §9.7.1.7 shmem_fadd, §9.7.1.8 shmem_add, §F.2.12
 * PES: 1 2
 */
#include "../api.h"

#define EXT(NAME, T)                                               \
    static T    NAME##_ext;                                        \
    static void ext_##NAME(int pe)                                 \
    {                                                              \
        shmem_set(&NAME##_ext, (T)40, pe);                         \
        shmem_quiet();                                             \
        CHECK(shmem_atomic_fetch(&NAME##_ext, pe) == (T)40);       \
        CHECK(shmem_swap(&NAME##_ext, (T)41, pe) == (T)40);        \
        CHECK(shmem_atomic_swap(&NAME##_ext, (T)42, pe) == (T)41); \
        CHECK(shmem_fetch(&NAME##_ext, pe) == (T)42);              \
    }

/* Beyond 32 bits where the type has them: the form that was picked shows. */
#define STD(NAME, T)                                                                 \
    static T    NAME##_std;                                                          \
    static void std_##NAME(int pe)                                                   \
    {                                                                                \
        T big = (T)(sizeof(T) == 8 ? INT64_C(1) << 40 : INT32_C(1) << 30);           \
        CHECK(shmem_cswap(&NAME##_std, (T)0, big, pe) == (T)0);                      \
        CHECK(shmem_atomic_compare_swap(&NAME##_std, big, (T)(big + 1), pe) == big); \
        CHECK(shmem_finc(&NAME##_std, pe) == (T)(big + 1));                          \
        shmem_inc(&NAME##_std, pe);                                                  \
        shmem_atomic_inc(&NAME##_std, pe);                                           \
        shmem_quiet();                                                               \
        CHECK(shmem_fadd(&NAME##_std, (T)-big, pe) == (T)(big + 4));                 \
        shmem_add(&NAME##_std, (T)-4, pe);                                           \
        shmem_quiet();                                                               \
        CHECK(shmem_fetch(&NAME##_std, pe) == (T)0);                                 \
    }

/* clang-format off */
/* Written out: the generics use the tables of the header, and a macro cannot be used within itself. */
#define STD_TYPES(X) X(int, int) X(long, long) X(longlong, long long)
#define EXT_TYPES(X) STD_TYPES(X) X(float, float) X(double, double)
EXT_TYPES(EXT)
STD_TYPES(STD)
#define CALL_EXT(NAME, T) ext_##NAME(next);
#define CALL_STD(NAME, T) std_##NAME(next);
/* clang-format on */

int main(void)
{
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    EXT_TYPES(CALL_EXT)
    STD_TYPES(CALL_STD)
    shmem_finalize();
    return api_result();
}
