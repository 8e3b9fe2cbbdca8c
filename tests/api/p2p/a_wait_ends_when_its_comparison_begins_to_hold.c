/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits on one word that begin while their comparison does not hold yet, for all types, comparisons and values at the limits of the type: none returns for any
 * of the values for which it does not, all do for one that does.
 * Spec: OpenSHMEM 1.6 §9.11.1 SHMEM_WAIT_UNTIL, §9.11.15 SHMEM_SIGNAL_WAIT_UNTIL
 */
#include "../comparisons.h"

static int  me, partner;
static bool waits; /* this PE waits, and its partner writes */

static long asked, asks; /* number of the wait that the partner has come to; how many there were */

/* The partner is about to look, so what is stored from here on is seen by a wait that has begun. */
static void come_to_a_wait(void)
{
    asks++;
    if (waits) shmem_long_p(&asked, asks, partner);
    else shmem_long_wait_until(&asked, SHMEM_CMP_GE, asks);
}

/* Whoever waits sets its word before it tells that it has come. */
#define STAMP_AS(NAME, TEST, T, WAIT)                                                              \
    static T    TEST##_word;                                                                       \
    static void test_##TEST(void)                                                                  \
    {                                                                                              \
        const T      values[] = {(T)0, (T)1, (T)-1, (T)7, (T)~TOP(T), TOP(T), (T)(TOP(T) + 1)};    \
        const size_t count    = sizeof values / sizeof *values;                                    \
        for (size_t k = 0; k < count * count * 6; k++) {                                           \
            T   last = values[k % count], b = values[k / count % count];                           \
            int cmp = operators[k / (count * count)];                                              \
            if (!HOLDS(last, cmp, b)) continue;                                                    \
            size_t first = 0;                                                                      \
            while (first < count && HOLDS(values[first], cmp, b)) first++;                         \
            if (first == count) continue; /* there is nothing to wait for */                       \
            if (waits) TEST##_word = values[first];                                                \
            come_to_a_wait();                                                                      \
            if (waits) {                                                                           \
                WAIT(NAME, TEST##_word, cmp, b);                                                   \
                CHECK(HOLDS(TEST##_word, cmp, b));                                                 \
                continue;                                                                          \
            }                                                                                      \
            for (size_t i = 0; i < count; i++)                                                     \
                if (!HOLDS(values[i], cmp, b)) shmem_##NAME##_p(&TEST##_word, values[i], partner); \
            shmem_fence(); /* none of them comes after the last */                                 \
            shmem_##NAME##_p(&TEST##_word, last, partner);                                         \
        }                                                                                          \
    }

#define WAIT_FOR_WORD(NAME, WORD, CMP, B) shmem_##NAME##_wait_until(&(WORD), CMP, B)
#define WAIT_FOR_SIGNAL(NAME, WORD, CMP, B)                         \
    {                                                               \
        uint64_t seen = shmem_signal_wait_until(&(WORD), CMP, B);   \
        CHECK_EQUAL(seen, WORD); /* it does firstchange any more */ \
    }

/* clang-format off */
#define STAMP(NAME, T, ...) STAMP_AS(NAME, NAME, T, WAIT_FOR_WORD)
SHMEMI_WAIT_TYPES(STAMP, )
STAMP_AS(uint64, signal, uint64_t, WAIT_FOR_SIGNAL)
#define CALL(NAME, T, ...) test_##NAME();
/* clang-format on */

int main(void)
{
    shmem_init();
    me      = shmem_my_pe();
    partner = me ^ 1;
    for (int waiting = 0; waiting < 2; waiting++) {
        shmem_barrier_all();
        waits = me % 2 == waiting;
        if (partner >= shmem_n_pes()) continue;
        SHMEMI_WAIT_TYPES(CALL, )
        test_signal();
    }
    shmem_finalize();
    return api_result();
}
