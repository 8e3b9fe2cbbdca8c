/* SPDX-License-Identifier: Apache-2.0
 *
 * Every atomic operation of every type of its table, fetching or not, nonblocking, with and without a context: the old value is
 * returned, the new one is at the target, and the words beside it stay.
 * Spec: OpenSHMEM 1.6 §9.7 Atomic Memory Operations, §9.7.1.1 to §9.7.1.14, §9.7.2.1 to §9.7.2.8
 */
#include "../ring.h"

static struct ring ring;

/* A word between two guards, at the next PE of either ring. Each PE is written by one other, so values are exact. */
enum { GUARD = 77 };

#define CHECK_AT(T, NAME, array, wanted)                   \
    do {                                                   \
        T now_[3];                                         \
        shmem_##NAME##_get(now_, array, 3, ring.next);     \
        CHECK(now_[0] == (T)GUARD && now_[2] == (T)GUARD); \
        CHECK(now_[1] == (T)(wanted));                     \
    } while (0)

/* After each step the word at the target is known. `word` is the symmetric word; `ctx` calls go to the same PE on one node. */
#define EXT(NAME, T, ...)                                                                        \
    static T    NAME##_ext[3] = {(T)GUARD, (T)5, (T)GUARD};                                      \
    static void ext_##NAME(void)                                                                 \
    {                                                                                            \
        T *word = &NAME##_ext[1], got[3] = {(T)GUARD, (T)0, (T)GUARD};                           \
        CHECK(shmem_##NAME##_atomic_fetch(word, ring.next) == (T)5);                             \
        shmem_##NAME##_atomic_set(word, (T)6, ring.next);                                        \
        shmem_quiet();                                                                           \
        CHECK_AT(T, NAME, NAME##_ext, 6);                                                        \
        CHECK(shmem_##NAME##_atomic_swap(word, (T)7, ring.next) == (T)6);                        \
        CHECK_AT(T, NAME, NAME##_ext, 7);                                                        \
        shmem_##NAME##_atomic_fetch_nbi(&got[1], word, ring.next);                               \
        shmem_quiet();                                                                           \
        CHECK(got[0] == (T)GUARD && got[1] == (T)7 && got[2] == (T)GUARD);                       \
        shmem_##NAME##_atomic_swap_nbi(&got[1], word, (T)8, ring.next);                          \
        shmem_quiet();                                                                           \
        CHECK(got[0] == (T)GUARD && got[1] == (T)7 && got[2] == (T)GUARD);                       \
        CHECK_AT(T, NAME, NAME##_ext, 8);                                                        \
        shmem_barrier_all();                                                                     \
        CHECK(shmem_ctx_##NAME##_atomic_fetch(ring.ctx, word, ring.ctx_next) == (T)8);           \
        shmem_ctx_##NAME##_atomic_set(ring.ctx, word, (T)9, ring.ctx_next);                      \
        shmem_ctx_quiet(ring.ctx);                                                               \
        CHECK(shmem_ctx_##NAME##_atomic_swap(ring.ctx, word, (T)10, ring.ctx_next) == (T)9);     \
        shmem_ctx_##NAME##_atomic_fetch_nbi(ring.ctx, &got[1], word, ring.ctx_next);             \
        shmem_ctx_quiet(ring.ctx);                                                               \
        CHECK(got[1] == (T)10);                                                                  \
        shmem_ctx_##NAME##_atomic_swap_nbi(ring.ctx, &got[1], word, (T)11, ring.ctx_next);       \
        shmem_ctx_quiet(ring.ctx);                                                               \
        CHECK(got[0] == (T)GUARD && got[1] == (T)10 && got[2] == (T)GUARD);                      \
        shmem_barrier_all();                                                                     \
        CHECK(NAME##_ext[0] == (T)GUARD && NAME##_ext[1] == (T)11 && NAME##_ext[2] == (T)GUARD); \
    }

#define STD(NAME, T, ...)                                                                                    \
    static T    NAME##_std[3] = {(T)GUARD, (T)5, (T)GUARD};                                                  \
    static void std_##NAME(void)                                                                             \
    {                                                                                                        \
        T *word = &NAME##_std[1], got[3] = {(T)GUARD, (T)0, (T)GUARD};                                       \
        CHECK(shmem_##NAME##_atomic_compare_swap(word, (T)5, (T)20, ring.next) == (T)5);                     \
        CHECK_AT(T, NAME, NAME##_std, 20);                                                                   \
        CHECK(shmem_##NAME##_atomic_compare_swap(word, (T)5, (T)30, ring.next) == (T)20); /* a miss */       \
        CHECK_AT(T, NAME, NAME##_std, 20);                                                                   \
        CHECK(shmem_##NAME##_atomic_fetch_inc(word, ring.next) == (T)20);                                    \
        shmem_##NAME##_atomic_inc(word, ring.next);                                                          \
        shmem_quiet();                                                                                       \
        CHECK_AT(T, NAME, NAME##_std, 22);                                                                   \
        CHECK(shmem_##NAME##_atomic_fetch_add(word, (T)10, ring.next) == (T)22);                             \
        shmem_##NAME##_atomic_add(word, (T)8, ring.next);                                                    \
        shmem_quiet();                                                                                       \
        CHECK_AT(T, NAME, NAME##_std, 40);                                                                   \
        shmem_##NAME##_atomic_compare_swap_nbi(&got[1], word, (T)40, (T)41, ring.next);                      \
        shmem_quiet();                                                                                       \
        CHECK(got[1] == (T)40);                                                                              \
        shmem_##NAME##_atomic_fetch_inc_nbi(&got[1], word, ring.next);                                       \
        shmem_quiet();                                                                                       \
        CHECK(got[1] == (T)41);                                                                              \
        shmem_##NAME##_atomic_fetch_add_nbi(&got[1], word, (T)8, ring.next);                                 \
        shmem_quiet();                                                                                       \
        CHECK(got[0] == (T)GUARD && got[1] == (T)42 && got[2] == (T)GUARD);                                  \
        CHECK_AT(T, NAME, NAME##_std, 50);                                                                   \
        shmem_barrier_all();                                                                                 \
        CHECK(shmem_ctx_##NAME##_atomic_compare_swap(ring.ctx, word, (T)50, (T)51, ring.ctx_next) == (T)50); \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_inc(ring.ctx, word, ring.ctx_next) == (T)51);                  \
        shmem_ctx_##NAME##_atomic_inc(ring.ctx, word, ring.ctx_next);                                        \
        shmem_ctx_quiet(ring.ctx);                                                                           \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_add(ring.ctx, word, (T)2, ring.ctx_next) == (T)53);            \
        shmem_ctx_##NAME##_atomic_add(ring.ctx, word, (T)5, ring.ctx_next);                                  \
        shmem_ctx_quiet(ring.ctx);                                                                           \
        shmem_ctx_##NAME##_atomic_compare_swap_nbi(ring.ctx, &got[1], word, (T)60, (T)61, ring.ctx_next);    \
        shmem_ctx_quiet(ring.ctx);                                                                           \
        CHECK(got[1] == (T)60);                                                                              \
        shmem_ctx_##NAME##_atomic_fetch_inc_nbi(ring.ctx, &got[1], word, ring.ctx_next);                     \
        shmem_ctx_quiet(ring.ctx);                                                                           \
        CHECK(got[1] == (T)61);                                                                              \
        shmem_ctx_##NAME##_atomic_fetch_add_nbi(ring.ctx, &got[1], word, (T)8, ring.ctx_next);               \
        shmem_ctx_quiet(ring.ctx);                                                                           \
        CHECK(got[0] == (T)GUARD && got[1] == (T)62 && got[2] == (T)GUARD);                                  \
        shmem_barrier_all();                                                                                 \
        CHECK(NAME##_std[0] == (T)GUARD && NAME##_std[1] == (T)70 && NAME##_std[2] == (T)GUARD);             \
    }

#define BIT(NAME, T, ...)                                                                              \
    static T    NAME##_bit[3] = {(T)GUARD, (T)0x0F, (T)GUARD};                                         \
    static void bit_##NAME(void)                                                                       \
    {                                                                                                  \
        T *word = &NAME##_bit[1], got[3] = {(T)GUARD, (T)0, (T)GUARD};                                 \
        CHECK(shmem_##NAME##_atomic_fetch_or(word, (T)0x30, ring.next) == (T)0x0F);                    \
        shmem_##NAME##_atomic_or(word, (T)0x40, ring.next);                                            \
        shmem_quiet();                                                                                 \
        CHECK(shmem_##NAME##_atomic_fetch_and(word, (T)0x7E, ring.next) == (T)0x7F);                   \
        shmem_##NAME##_atomic_and(word, (T)0x3F, ring.next);                                           \
        shmem_quiet();                                                                                 \
        CHECK(shmem_##NAME##_atomic_fetch_xor(word, (T)0x11, ring.next) == (T)0x3E);                   \
        shmem_##NAME##_atomic_xor(word, (T)0x01, ring.next);                                           \
        shmem_quiet();                                                                                 \
        CHECK(shmem_##NAME##_atomic_fetch_or(word, (T)0, ring.next) == (T)0x2E);                       \
        shmem_##NAME##_atomic_fetch_or_nbi(&got[1], word, (T)0x01, ring.next);                         \
        shmem_quiet();                                                                                 \
        CHECK(got[1] == (T)0x2E);                                                                      \
        shmem_##NAME##_atomic_fetch_and_nbi(&got[1], word, (T)0x0F, ring.next);                        \
        shmem_quiet();                                                                                 \
        CHECK(got[1] == (T)0x2F);                                                                      \
        shmem_##NAME##_atomic_fetch_xor_nbi(&got[1], word, (T)0xFF, ring.next);                        \
        shmem_quiet();                                                                                 \
        CHECK(got[0] == (T)GUARD && got[1] == (T)0x0F && got[2] == (T)GUARD);                          \
        shmem_barrier_all();                                                                           \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_or(ring.ctx, word, (T)1, ring.ctx_next) == (T)0xF0);     \
        shmem_ctx_##NAME##_atomic_or(ring.ctx, word, (T)2, ring.ctx_next);                             \
        shmem_ctx_quiet(ring.ctx);                                                                     \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_and(ring.ctx, word, (T)0x1F, ring.ctx_next) == (T)0xF3); \
        shmem_ctx_##NAME##_atomic_and(ring.ctx, word, (T)0x12, ring.ctx_next);                         \
        shmem_ctx_quiet(ring.ctx);                                                                     \
        CHECK(shmem_ctx_##NAME##_atomic_fetch_xor(ring.ctx, word, (T)0x02, ring.ctx_next) == (T)0x12); \
        shmem_ctx_##NAME##_atomic_xor(ring.ctx, word, (T)0x05, ring.ctx_next);                         \
        shmem_ctx_quiet(ring.ctx);                                                                     \
        shmem_ctx_##NAME##_atomic_fetch_or_nbi(ring.ctx, &got[1], word, (T)0x08, ring.ctx_next);       \
        shmem_ctx_quiet(ring.ctx);                                                                     \
        CHECK(got[1] == (T)0x15);                                                                      \
        shmem_ctx_##NAME##_atomic_fetch_and_nbi(ring.ctx, &got[1], word, (T)0x0C, ring.ctx_next);      \
        shmem_ctx_quiet(ring.ctx);                                                                     \
        CHECK(got[1] == (T)0x1D);                                                                      \
        shmem_ctx_##NAME##_atomic_fetch_xor_nbi(ring.ctx, &got[1], word, (T)0x03, ring.ctx_next);      \
        shmem_ctx_quiet(ring.ctx);                                                                     \
        CHECK(got[0] == (T)GUARD && got[1] == (T)0x0C && got[2] == (T)GUARD);                          \
        shmem_barrier_all();                                                                           \
        CHECK(NAME##_bit[0] == (T)GUARD && NAME##_bit[1] == (T)0x0F && NAME##_bit[2] == (T)GUARD);     \
    }

/* clang-format off */
SHMEMI_AMO_EXT_TYPES(EXT, )
SHMEMI_AMO_STD_TYPES(STD, )
SHMEMI_AMO_BIT_TYPES(BIT, )
#define CALL_EXT(NAME, T, ...) ext_##NAME();
#define CALL_STD(NAME, T, ...) std_##NAME();
#define CALL_BIT(NAME, T, ...) bit_##NAME();
/* clang-format on */

int main(void)
{
    shmem_init();
    ring = ring_open();
    shmem_barrier_all();
    SHMEMI_AMO_EXT_TYPES(CALL_EXT, )
    SHMEMI_AMO_STD_TYPES(CALL_STD, )
    SHMEMI_AMO_BIT_TYPES(CALL_BIT, )
    ring_close(&ring);
    shmem_finalize();
    return api_result();
}
