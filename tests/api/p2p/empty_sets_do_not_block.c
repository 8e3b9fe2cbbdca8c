/* SPDX-License-Identifier: Apache-2.0
 *
 * No words, or all of them excluded: every wait returns at once with the answer of the table, arrays may be NULL for no words,
 * and the status array is a mask that is never written. For every type.
 * Spec: OpenSHMEM 1.6 §9.11.2 to §9.11.7, §9.11.9 to §9.11.14; pitfall: status[] is a mask that is only read
 */
#include "../api.h"

enum { COUNT = 3 };

#define CHECK_SET(NAME, WORDS, N, STATUS, INDICES, VALUES)                                                      \
    do {                                                                                                        \
        shmem_##NAME##_wait_until_all(WORDS, N, STATUS, SHMEM_CMP_EQ, 99);                                      \
        shmem_##NAME##_wait_until_all_vector(WORDS, N, STATUS, SHMEM_CMP_EQ, VALUES);                           \
        CHECK(shmem_##NAME##_wait_until_any(WORDS, N, STATUS, SHMEM_CMP_EQ, 99) == SIZE_MAX);                   \
        CHECK(shmem_##NAME##_wait_until_any_vector(WORDS, N, STATUS, SHMEM_CMP_EQ, VALUES) == SIZE_MAX);        \
        CHECK_EQUAL(shmem_##NAME##_wait_until_some(WORDS, N, INDICES, STATUS, SHMEM_CMP_EQ, 99), 0);            \
        CHECK_EQUAL(shmem_##NAME##_wait_until_some_vector(WORDS, N, INDICES, STATUS, SHMEM_CMP_EQ, VALUES), 0); \
        CHECK_EQUAL(shmem_##NAME##_test_all(WORDS, N, STATUS, SHMEM_CMP_EQ, 99), 1);                            \
        CHECK_EQUAL(shmem_##NAME##_test_all_vector(WORDS, N, STATUS, SHMEM_CMP_EQ, VALUES), 1);                 \
        CHECK(shmem_##NAME##_test_any(WORDS, N, STATUS, SHMEM_CMP_EQ, 99) == SIZE_MAX);                         \
        CHECK(shmem_##NAME##_test_any_vector(WORDS, N, STATUS, SHMEM_CMP_EQ, VALUES) == SIZE_MAX);              \
        CHECK_EQUAL(shmem_##NAME##_test_some(WORDS, N, INDICES, STATUS, SHMEM_CMP_EQ, 99), 0);                  \
        CHECK_EQUAL(shmem_##NAME##_test_some_vector(WORDS, N, INDICES, STATUS, SHMEM_CMP_EQ, VALUES), 0);       \
    } while (0)

#define STAMP(NAME, T, ...)                                                                                     \
    static T    NAME##_words[COUNT];                                                                            \
    static void test_##NAME(void)                                                                               \
    {                                                                                                           \
        const T values[COUNT]  = {99, 99, 99};                                                                  \
        int     status[COUNT]  = {1, -1, 1 << 30};                                                              \
        size_t  indices[COUNT] = {7, 8, 9};                                                                     \
        CHECK_SET(NAME, NULL, 0, NULL, NULL, NULL);                                                             \
        CHECK_SET(NAME, NAME##_words, 0, status, indices, values);                                              \
        CHECK_SET(NAME, NAME##_words, COUNT, status, indices, values);                                          \
        CHECK(indices[0] == 7 && indices[1] == 8 && indices[2] == 9);                                           \
        CHECK(status[0] == 1 && status[1] == -1 && status[2] == 1 << 30);                                       \
        /* One word left: only it counts, and the mask stays. */                                                \
        status[1]       = 0;                                                                                    \
        NAME##_words[1] = 99;                                                                                   \
        shmem_##NAME##_wait_until_all(NAME##_words, COUNT, status, SHMEM_CMP_EQ, 99);                           \
        shmem_##NAME##_wait_until_all_vector(NAME##_words, COUNT, status, SHMEM_CMP_EQ, values);                \
        CHECK_EQUAL(shmem_##NAME##_wait_until_any(NAME##_words, COUNT, status, SHMEM_CMP_EQ, 99), 1);           \
        CHECK_EQUAL(shmem_##NAME##_wait_until_some(NAME##_words, COUNT, indices, status, SHMEM_CMP_EQ, 99), 1); \
        CHECK_EQUAL(indices[0], 1);                                                                             \
        CHECK_EQUAL(shmem_##NAME##_test_all(NAME##_words, COUNT, status, SHMEM_CMP_EQ, 99), 1);                 \
        CHECK_EQUAL(shmem_##NAME##_test_any(NAME##_words, COUNT, status, SHMEM_CMP_NE, 99) == SIZE_MAX, 1);     \
        CHECK_EQUAL(shmem_##NAME##_test_some(NAME##_words, COUNT, indices, status, SHMEM_CMP_NE, 99), 0);       \
        CHECK(status[0] == 1 && status[1] == 0 && status[2] == 1 << 30);                                        \
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
