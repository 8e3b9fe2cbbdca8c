/* SPDX-License-Identifier: Apache-2.0
 *
 * Random locks of a few, taken by set and test, held for random times, by all PEs at once: what a lock guards is read and
 * written without atomics and loses nothing.
 * Spec: OpenSHMEM 1.6 §9.13.1 shmem_lock
 */
#include "stress.h"

enum { LOCKS = 5, ROUNDS = 60 };

static long locks[LOCKS], counters[LOCKS], mine_total[LOCKS], all_total[LOCKS];

static void use(int which, struct stress_numbers *numbers)
{
    int home = which % shmem_n_pes();
    if (stress_pick(numbers, 3) == 0) {
        while (shmem_test_lock(&locks[which])) continue;
    } else {
        shmem_set_lock(&locks[which]);
    }
    long seen = shmem_long_g(&counters[which], home);
    for (size_t i = stress_pick(numbers, 300); i > 0; i--) atomic_signal_fence(memory_order_seq_cst);
    shmem_long_p(&counters[which], seen + 1, home);
    shmem_clear_lock(&locks[which]);
    mine_total[which]++;
}

int main(void)
{
    shmem_init();
    struct stress_numbers numbers = {stress_seed() * 31 + (uint64_t)shmem_my_pe()};
    double                start_s = stress_now_s();
    long                  round   = 0;
    do {
        for (int i = 0; i < ROUNDS; i++) {
            int which = (int)stress_pick(&numbers, LOCKS);
            use(which, &numbers);
        }
    } while (stress_go_on(++round, start_s));
    for (int k = 0; k < LOCKS; k++) shmem_long_atomic_add(&all_total[k], mine_total[k], k % shmem_n_pes());
    shmem_barrier_all();
    for (int k = 0; k < LOCKS; k++) {
        if (k % shmem_n_pes() == shmem_my_pe()) CHECK_EQUAL(counters[k], all_total[k]);
        CHECK_EQUAL(locks[k], 0);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
