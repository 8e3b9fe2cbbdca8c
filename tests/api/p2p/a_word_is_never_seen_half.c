/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits and tests read a word whole while atomics change it: swaps between values that differ in all bits, on words of 4 and 8
 * bytes, let no test ever find a mixture of both.
 * Spec: OpenSHMEM 1.6 §3.2 Atomicity Guarantees, §9.11 Point-To-Point Synchronization Routines
 * PES: 2
 */
#include "../api.h"

enum { ROUNDS = 20000, POSTED_ROUNDS = 1000 };

static long long wide;
static int       narrow;
static uint64_t  signal_word;
static long      over;

static void change(void)
{
    int rounds = shmem_ptr(&wide, 1) ? ROUNDS : POSTED_ROUNDS; /* a transport's own atomics take longer */
    for (int round = 0; round < rounds; round++) {
        shmem_longlong_atomic_swap(&wide, round % 2 ? 0 : -1, 1);
        shmem_int_atomic_set(&narrow, round % 2 ? 0 : -1, 1);
        shmem_signal_set(&signal_word, round % 2 ? 0 : UINT64_MAX, 1);
    }
    shmem_quiet();
    shmem_long_atomic_set(&over, 1, 1);
}

/* A mixture is neither 0 nor -1: below -1 or above 0 where it is signed. */
static void watch(void)
{
    while (!shmem_long_test(&over, SHMEM_CMP_EQ, 1)) {
        CHECK_EQUAL(shmem_longlong_test(&wide, SHMEM_CMP_LT, -1), 0);
        CHECK_EQUAL(shmem_longlong_test(&wide, SHMEM_CMP_GT, 0), 0);
        CHECK_EQUAL(shmem_int_test(&narrow, SHMEM_CMP_LT, -1), 0);
        CHECK_EQUAL(shmem_int_test_any(&narrow, 1, NULL, SHMEM_CMP_GT, 0) == SIZE_MAX, 1);
        uint64_t value = shmem_signal_fetch(&signal_word);
        CHECK(value == 0 || value == UINT64_MAX);
        value = shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, 0);
        CHECK(value == 0 || value == UINT64_MAX);
    }
}

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) change();
    else watch();
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
