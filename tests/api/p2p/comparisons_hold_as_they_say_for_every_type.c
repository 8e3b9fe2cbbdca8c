/* SPDX-License-Identifier: Apache-2.0
 *
 * All waits and tests of all 12 types, scalar and vector, with all six comparisons on values below, at and above: what a test
 * says is what C says, signed types compare signed and unsigned ones unsigned, and a wait whose condition holds returns.
 * Spec: OpenSHMEM 1.6 §9.11 Point-To-Point Synchronization Routines, §9.11.1 to §9.11.14
 */
#include "../comparisons.h"

#define STAMP(NAME, T, ...)                                                                               \
    static T    NAME##_words[3];                                                                          \
    static void test_##NAME(void)                                                                         \
    {                                                                                                     \
        T           *words    = NAME##_words;                                                             \
        const T      values[] = {(T)0, (T)1, (T)-1, (T)7, (T)8, (T)9, (T)~TOP(T), TOP(T)};                \
        const size_t count    = sizeof values / sizeof *values;                                           \
        size_t       indices[3];                                                                          \
        for (size_t k = 0; k < count * count * 6; k++) {                                                  \
            T    a = values[k % count], b = values[k / count % count];                                    \
            int  cmp   = operators[k / (count * count)];                                                  \
            bool says  = HOLDS(a, cmp, b);                                                                \
            T    bs[3] = {b, b, b};                                                                       \
            words[0] = words[1] = words[2] = a;                                                           \
            CHECK_EQUAL(shmem_##NAME##_test(&words[1], cmp, b), says);                                    \
            CHECK_EQUAL(shmem_##NAME##_test_all(words, 3, NULL, cmp, b), says);                           \
            CHECK_EQUAL(shmem_##NAME##_test_all_vector(words, 3, NULL, cmp, bs), says);                   \
            CHECK_EQUAL(shmem_##NAME##_test_any(words, 3, NULL, cmp, b) != SIZE_MAX, says);               \
            CHECK_EQUAL(shmem_##NAME##_test_any_vector(words, 3, NULL, cmp, bs) != SIZE_MAX, says);       \
            CHECK_EQUAL(shmem_##NAME##_test_some(words, 3, indices, NULL, cmp, b), says ? 3 : 0);         \
            CHECK_EQUAL(shmem_##NAME##_test_some_vector(words, 3, indices, NULL, cmp, bs), says ? 3 : 0); \
            if (!says) continue;                                                                          \
            shmem_##NAME##_wait_until(&words[1], cmp, b);                                                 \
            shmem_##NAME##_wait_until_all(words, 3, NULL, cmp, b);                                        \
            shmem_##NAME##_wait_until_all_vector(words, 3, NULL, cmp, bs);                                \
            CHECK(shmem_##NAME##_wait_until_any(words, 3, NULL, cmp, b) < 3);                             \
            CHECK(shmem_##NAME##_wait_until_any_vector(words, 3, NULL, cmp, bs) < 3);                     \
            CHECK_EQUAL(shmem_##NAME##_wait_until_some(words, 3, indices, NULL, cmp, b), 3);              \
            CHECK_EQUAL(shmem_##NAME##_wait_until_some_vector(words, 3, indices, NULL, cmp, bs), 3);      \
        }                                                                                                 \
    }

/* clang-format off */
SHMEMI_AMO_STD_TYPES(STAMP, )
#define CALL(NAME, T, ...) test_##NAME();
/* clang-format on */

int main(void)
{
    shmem_init();
    SHMEMI_AMO_STD_TYPES(CALL, )
    shmem_finalize();
    return api_result();
}
