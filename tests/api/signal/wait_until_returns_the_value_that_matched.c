/* SPDX-License-Identifier: Apache-2.0
 *
 * signal_wait_until compares unsigned with all six operators and returns a value for which the comparison holds, also while
 * the word goes on changing.
 * Spec: OpenSHMEM 1.6 §9.11.15 shmem_signal_wait_until
 */
#include "../api.h"

enum { ROUNDS = 2000 };

static uint64_t word;

static void compare(void)
{
    static uint64_t local = UINT64_C(1) << 63;
    const uint64_t  value = local;
    CHECK(shmem_signal_wait_until(&local, SHMEM_CMP_EQ, value) == value);
    CHECK(shmem_signal_wait_until(&local, SHMEM_CMP_NE, 0) == value);
    CHECK(shmem_signal_wait_until(&local, SHMEM_CMP_GT, 1) == value); /* signed, it would be negative */
    CHECK(shmem_signal_wait_until(&local, SHMEM_CMP_GE, value) == value);
    CHECK(shmem_signal_wait_until(&local, SHMEM_CMP_LT, value + 1) == value);
    CHECK(shmem_signal_wait_until(&local, SHMEM_CMP_LE, value) == value);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    compare();
    shmem_barrier_all();
    uint64_t seen = 0;
    for (int i = 0; i < ROUNDS; i++) {
        shmem_signal_add(&word, 1, next);
        if (i % 16 == 0 && seen <= (uint64_t)i) { /* the PE before us is at i or will be: no ring of waits */
            uint64_t now = shmem_signal_wait_until(&word, SHMEM_CMP_GT, seen);
            CHECK(now > seen);
            seen = now;
        }
    }
    CHECK_EQUAL(shmem_signal_wait_until(&word, SHMEM_CMP_GE, ROUNDS), ROUNDS);
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
