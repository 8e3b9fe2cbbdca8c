/* SPDX-License-Identifier: Apache-2.0
 *
 * wait_until and test on short and unsigned short, with all six comparisons on values below, at and above: what a test says is what C says, the signed
 * ones compare signed, words beside the one that is looked at do not count, and a wait whose condition holds returns.
 * Spec: OpenSHMEM 1.6 §9.11.1 shmem_short_wait_until, §9.11.8 shmem_short_test, §F.2.16
 * PES: 1 2
 */
#include "../comparisons.h"

#define STAMP(NAME, T, ...)                                                                 \
    static T    NAME##_words[3];                                                            \
    static void test_##NAME(void)                                                           \
    {                                                                                       \
        const T      values[] = {0, 1, (T)-1, 7, 8, 9, 0x7fff, (T)0x8000, (T)0xff00, 0xff}; \
        const size_t count    = sizeof values / sizeof *values;                             \
        for (size_t k = 0; k < count * count * 6; k++) {                                    \
            T    a = values[k % count], b = values[k / count % count];                      \
            int  cmp        = operators[k / (count * count)];                               \
            bool says       = HOLDS(a, cmp, b);                                             \
            NAME##_words[0] = NAME##_words[2] = b;                                          \
            NAME##_words[1]                   = a;                                          \
            if (CHECK_EQUAL(shmem_##NAME##_test(&NAME##_words[1], cmp, b), says) && says)   \
                shmem_##NAME##_wait_until(&NAME##_words[1], cmp, b);                        \
        }                                                                                   \
    }

/* clang-format off */
SHMEMI_WAIT_OLD_TYPES(STAMP, )
#define CALL(NAME, T, ...) test_##NAME();
/* clang-format on */

int main(void)
{
    shmem_init();
    SHMEMI_WAIT_OLD_TYPES(CALL, )
    shmem_finalize();
    return api_result();
}
