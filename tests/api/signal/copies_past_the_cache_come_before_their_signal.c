/* SPDX-License-Identifier: Apache-2.0
 *
 * Stores past the cache are not ordered with later stores on x86 unless a fence says so. Many short ones, each followed at once by
 * its signal, by a flag after a fence or by a flag after quiet; the reader spins and looks at the last bytes first.
 * Spec: OpenSHMEM 1.6 §9.8.3 shmem_put_signal, §9.8.4 shmem_put_signal_nbi, §9.12.1 shmem_fence
 * PES: 2
 * ENV: POSTERN_COPY_STREAM=256 POSTERN_CHAOS_DELAY=2us
 * NOVALGRIND: two PEs
 */
#include "../api.h"

enum { ROUNDS = 30000, WORDS_MAX = 128 };

static uint64_t data[WORDS_MAX] __attribute__((aligned(64))), flag, taken;

static size_t words_of(uint64_t round)
{
    return 32 + round % 13 * 8;
}

static void write_round(uint64_t round)
{
    uint64_t values[WORDS_MAX];
    for (size_t i = 0; i < words_of(round); i++) values[i] = round;
    if (round % 3 == 0) {
        shmem_uint64_put_signal(data, values, words_of(round), &flag, round, SHMEM_SIGNAL_SET, 1);
        return;
    }
    shmem_uint64_put(data, values, words_of(round), 1);
    if (round % 3 == 1) shmem_fence();
    else shmem_quiet();
    shmem_uint64_p(&flag, round, 1);
}

static void spin(const uint64_t *word, uint64_t value)
{
    for (int i = 0; i < 20000; i++)
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) == value) return;
    shmem_uint64_wait_until((uint64_t *)(uintptr_t)word, SHMEM_CMP_EQ, value);
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), rounds = shmem_ptr(data, 1 - me) ? ROUNDS : 300;
    for (uint64_t round = 1; round <= (uint64_t)rounds; round++) {
        if (me == 0) {
            write_round(round);
            spin(&taken, round);
        } else {
            spin(&flag, round);
            for (size_t i = words_of(round); i-- > 0;)
                if (!CHECK_EQUAL(data[i], round)) break;
            shmem_uint64_p(&taken, round, 0);
            shmem_quiet();
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
