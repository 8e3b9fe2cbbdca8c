/* SPDX-License-Identifier: Apache-2.0
 *
 * In the vector forms word i is compared with value i; in the scalar forms with one value. any names a word that holds, some
 * names all of them and no other, all wants every one. For every type.
 * Spec: OpenSHMEM 1.6 §9.11.5 to §9.11.7, §9.11.12 to §9.11.14
 */
#include "../api.h"

enum { COUNT = 6 };

#define STAMP(NAME, T, ...)                                                                                       \
    static T    NAME##_words[COUNT];                                                                              \
    static void test_##NAME(void)                                                                                 \
    {                                                                                                             \
        T     *words = NAME##_words, values[COUNT];                                                               \
        size_t indices[COUNT];                                                                                    \
        for (int i = 0; i < COUNT; i++) {                                                                         \
            words[i]  = (T)(i + 1);                                                                               \
            values[i] = (T)(i == 2 || i == 5 ? i + 1 : 50);                                                       \
        }                                                                                                         \
        size_t any = shmem_##NAME##_wait_until_any_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values);              \
        CHECK(any == 2 || any == 5);                                                                              \
        any = shmem_##NAME##_test_any_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values);                           \
        CHECK(any == 2 || any == 5);                                                                              \
        CHECK_EQUAL(shmem_##NAME##_wait_until_some_vector(words, COUNT, indices, NULL, SHMEM_CMP_EQ, values), 2); \
        CHECK(indices[0] + indices[1] == 7 && (indices[0] == 2 || indices[0] == 5));                              \
        CHECK_EQUAL(shmem_##NAME##_test_some_vector(words, COUNT, indices, NULL, SHMEM_CMP_EQ, values), 2);       \
        CHECK(indices[0] + indices[1] == 7 && (indices[0] == 2 || indices[0] == 5));                              \
        CHECK_EQUAL(shmem_##NAME##_test_all_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values), 0);                 \
        CHECK_EQUAL(shmem_##NAME##_test_all_vector(words, COUNT, NULL, SHMEM_CMP_LE, values), 1);                 \
        shmem_##NAME##_wait_until_all_vector(words, COUNT, NULL, SHMEM_CMP_LE, values);                           \
        CHECK_EQUAL(shmem_##NAME##_test_any(words, COUNT, NULL, SHMEM_CMP_EQ, (T)4), 3);                          \
        CHECK_EQUAL(shmem_##NAME##_wait_until_any(words, COUNT, NULL, SHMEM_CMP_EQ, (T)6), 5);                    \
        CHECK_EQUAL(shmem_##NAME##_test_some(words, COUNT, indices, NULL, SHMEM_CMP_GT, (T)4), 2);                \
        CHECK(indices[0] + indices[1] == 9 && (indices[0] == 4 || indices[0] == 5));                              \
        CHECK_EQUAL(shmem_##NAME##_wait_until_some(words, COUNT, indices, NULL, SHMEM_CMP_LT, (T)2), 1);          \
        CHECK_EQUAL(indices[0], 0);                                                                               \
        CHECK_EQUAL(shmem_##NAME##_test_all(words, COUNT, NULL, SHMEM_CMP_GE, (T)2), 0);                          \
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
