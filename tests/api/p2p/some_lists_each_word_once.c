/* SPDX-License-Identifier: Apache-2.0
 *
 * wait_until_some and test_some list every word that holds, in whatever order, each once, and no word that is excluded or does
 * not hold; places of the array behind the count stay. So a program that excludes what it was told of hears of every word.
 * Spec: OpenSHMEM 1.6 §9.11.4 shmem_wait_until_some, §9.11.7 shmem_wait_until_some_vector, §9.11.11 shmem_test_some
 * Spec: OpenSHMEM 1.6 §9.11.14 shmem_test_some_vector
 * PES: 2 3
 */
#include "../api.h"

enum { COUNT = 40, UNTOUCHED = 12345 };

static long words[COUNT];

static size_t call(int kind, size_t *indices, const int *status, const long *values)
{
    switch (kind) {
    case 0: return shmem_long_wait_until_some(words, COUNT, indices, status, SHMEM_CMP_EQ, 1);
    case 1: return shmem_long_test_some(words, COUNT, indices, status, SHMEM_CMP_EQ, 1);
    case 2: return shmem_long_wait_until_some_vector(words, COUNT, indices, status, SHMEM_CMP_EQ, values);
    default: return shmem_long_test_some_vector(words, COUNT, indices, status, SHMEM_CMP_EQ, values);
    }
}

/* All words change one after the other, by the PE before; each is told of once. */
static void collect(int kind)
{
    int    status[COUNT] = {0}, told[COUNT] = {0}, left = COUNT;
    long   values[COUNT];
    size_t indices[COUNT];
    for (int i = 0; i < COUNT; i++) values[i] = 1;
    status[7] = 1; /* excluded all the time, though it will hold */
    while (left > 1) {
        for (int i = 0; i < COUNT; i++) indices[i] = UNTOUCHED;
        size_t count = call(kind, indices, status, values);
        CHECK(count <= COUNT && (count > 0 || kind % 2 == 1));
        for (size_t i = 0; i < COUNT; i++) {
            if (i >= count) {
                CHECK_EQUAL(indices[i], UNTOUCHED);
                continue;
            }
            if (!CHECK(indices[i] < COUNT && !told[indices[i]] && indices[i] != 7)) return;
            told[indices[i]]   = 1;
            status[indices[i]] = 1;
            left--;
        }
    }
    CHECK_EQUAL(shmem_long_test_some(words, COUNT, indices, status, SHMEM_CMP_EQ, 1), 0);
}

int main(void)
{
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int kind = 0; kind < 4; kind++) {
        memset(words, 0, sizeof words);
        shmem_barrier_all();
        for (int i = 0; i < COUNT; i++) shmem_long_atomic_set(&words[i * 7 % COUNT], 1, next);
        collect(kind);
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
