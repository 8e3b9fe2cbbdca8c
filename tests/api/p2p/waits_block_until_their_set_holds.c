/* SPDX-License-Identifier: Apache-2.0
 *
 * Where nothing holds yet, tests say so (0, SIZE_MAX for any) and leave all arrays alone, and waits go on waiting: the one that
 * returns finds the words as it asked for them. For each family, scalar and vector; all wants every word, any and some want one.
 * Spec: OpenSHMEM 1.6 §9.11.1 to §9.11.14
 * PES: 2 3
 */
#include "../api.h"

enum { COUNT = 5 };

static long words[COUNT], ready;

static void nothing_holds(const long *values)
{
    size_t indices[COUNT] = {9, 9, 9, 9, 9};
    CHECK_EQUAL(shmem_long_test(&words[0], SHMEM_CMP_EQ, 1), 0);
    CHECK_EQUAL(shmem_long_test_all(words, COUNT, NULL, SHMEM_CMP_EQ, 1), 0);
    CHECK(shmem_long_test_any(words, COUNT, NULL, SHMEM_CMP_EQ, 1) == SIZE_MAX);
    CHECK_EQUAL(shmem_long_test_some(words, COUNT, indices, NULL, SHMEM_CMP_EQ, 1), 0);
    CHECK_EQUAL(shmem_long_test_all_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values), 0);
    CHECK(shmem_long_test_any_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values) == SIZE_MAX);
    CHECK_EQUAL(shmem_long_test_some_vector(words, COUNT, indices, NULL, SHMEM_CMP_EQ, values), 0);
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(indices[i], 9);
}

/* Wait in one way, and look at what it found. */
static void wait_for(int kind, const long *values)
{
    size_t indices[COUNT], count = 1, index = 0;
    switch (kind) {
    case 0: shmem_long_wait_until(&words[0], SHMEM_CMP_EQ, 1); break;
    case 1: shmem_long_wait_until_all(words, COUNT, NULL, SHMEM_CMP_EQ, 1); break;
    case 2: shmem_long_wait_until_all_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values); break;
    case 3: index = shmem_long_wait_until_any(words, COUNT, NULL, SHMEM_CMP_EQ, 1); break;
    case 4: index = shmem_long_wait_until_any_vector(words, COUNT, NULL, SHMEM_CMP_EQ, values); break;
    case 5: count = shmem_long_wait_until_some(words, COUNT, indices, NULL, SHMEM_CMP_EQ, 1); break;
    default: count = shmem_long_wait_until_some_vector(words, COUNT, indices, NULL, SHMEM_CMP_EQ, values); break;
    }
    if (kind == 1 || kind == 2)
        for (int i = 0; i < COUNT; i++) CHECK_EQUAL(shmem_long_atomic_fetch(&words[i], shmem_my_pe()), 1);
    if (kind >= 5) index = count > 0 ? indices[0] : SIZE_MAX;
    CHECK(count >= 1 && count <= COUNT);
    if (CHECK(index < COUNT)) CHECK_EQUAL(shmem_long_atomic_fetch(&words[index], shmem_my_pe()), 1);
}

int main(void)
{
    const long values[COUNT] = {1, 1, 1, 1, 1};
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n, before = (me + n - 1) % n;
    for (int kind = 0; kind < 7; kind++) {
        memset(words, 0, sizeof words);
        shmem_barrier_all();
        nothing_holds(values);
        shmem_long_atomic_set(&ready, kind + 1, before); /* only now may my words change */
        shmem_long_wait_until(&ready, SHMEM_CMP_EQ, kind + 1);
        for (int i = COUNT - 1; i >= 0; i--) shmem_long_atomic_set(&words[i], 1, next);
        wait_for(kind, values);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
