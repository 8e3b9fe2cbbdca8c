/* SPDX-License-Identifier: Apache-2.0
 *
 * Two PEs put to each other, call quiet and read their own word: at least one of them sees the other's put, always. A fence that
 * orders only stores would let both read too early.
 * Spec: OpenSHMEM 1.6 §9.12.2 shmem_quiet, §9.12.4 Synchronization and Communication Ordering
 * PES: 2
 * ENV: POSTERN_CHAOS_DELAY=2us
 */
#include "../api.h"

enum { ROUNDS = 20000 };

static uint32_t words[ROUNDS], results[ROUNDS];
static uint32_t gate[ROUNDS];

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), other = 1 - me, rounds = shmem_ptr(words, other) ? ROUNDS : 300;
    shmem_barrier_all();
    for (int i = 0; i < rounds; i++) {
        /* Start together. */
        shmem_uint32_p(&gate[i], 1, other);
        while (__atomic_load_n(&gate[i], __ATOMIC_ACQUIRE) == 0) {
            if (shmem_uint32_test(&gate[i], SHMEM_CMP_EQ, 1)) break;
        }
        shmem_uint32_p(&words[i], 1, other);
        if (i % 2) shmem_quiet();
        else shmem_pe_quiet(&other, 1);
        results[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    }
    shmem_barrier_all();
    if (me == 0) {
        static uint32_t theirs[ROUNDS];
        int             both_missed = 0, both_saw = 0;
        shmem_uint32_get(theirs, results, (size_t)rounds, other);
        for (int i = 0; i < rounds; i++) {
            both_missed += results[i] == 0 && theirs[i] == 0;
            both_saw += results[i] == 1 && theirs[i] == 1;
        }
        printf("of %d rounds both saw the other in %d, neither in %d\n", rounds, both_saw, both_missed);
        CHECK_EQUAL(both_missed, 0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
