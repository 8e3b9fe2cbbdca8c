/* SPDX-License-Identifier: Apache-2.0
 *
 * A short that other PEs put changes in both bytes each time; the target waits for the next value by both types of wait and tests, and sees only values
 * that were put. Words beside it stay.
 * Spec: OpenSHMEM 1.6 §9.11.1 shmem_ushort_wait_until, §9.11.8 shmem_ushort_test, §F.2.16
 * PES: 1 2
 * ENV: POSTERN_CHAOS_DELAY=5us
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>

enum { ROUNDS = 150, GUARD = 0x5a5a };

static unsigned short words[3] = {GUARD, 0, GUARD};
static short          answer;

static unsigned short value(int round)
{
    return (unsigned short)(round % 2 ? 0x0101 * (round % 127 + 1) : 0xffff - 0x0101 * (round % 127));
}

static void *write_words(void *unused)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (int round = 1; round <= ROUNDS; round++) {
        const unsigned short now = value(round);
        if (round % 3) shmem_ushort_p(&words[1], now, next);
        else shmem_ushort_put(&words[1], &now, 1, next);
        shmem_quiet();
        shmem_short_wait_until(&answer, SHMEM_CMP_EQ, (short)round);
        CHECK_EQUAL(shmem_ushort_g(&words[1], next), now);
    }
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int before = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    shmem_barrier_all();
    if (pthread_create(&thread, NULL, write_words, NULL) != 0) abort();
    for (int round = 1; round <= ROUNDS; round++) {
        unsigned short old = value(round - 1), seen;
        if (round == 1) old = 0;
        if (round % 2) shmem_ushort_wait_until(&words[1], SHMEM_CMP_NE, old);
        else
            while (shmem_ushort_test(&words[1], SHMEM_CMP_EQ, old)) continue;
        seen = __atomic_load_n(&words[1], __ATOMIC_ACQUIRE);
        CHECK_EQUAL(seen, value(round));
        shmem_short_p(&answer, (short)round, before);
        shmem_quiet();
    }
    pthread_join(thread, NULL);
    shmem_barrier_all();
    CHECK(words[0] == GUARD && words[2] == GUARD);
    shmem_finalize();
    return api_result();
}
