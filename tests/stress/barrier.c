/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers and sync_all in random turn, with PEs that come late by random times: who leaves finds the number of this round from
 * every PE, and nobody is two rounds ahead.
 * Spec: OpenSHMEM 1.6 §9.10.1 shmem_barrier_all, §9.10.4 shmem_sync_all
 */
#include "stress.h"

enum { PES_MAX = 64, ROUNDS = 200 };

static long counts[PES_MAX];

int main(void)
{
    shmem_init();
    int                   me = shmem_my_pe(), n = shmem_n_pes();
    uint64_t              seed    = stress_seed();
    struct stress_numbers numbers = {seed * 17 + (uint64_t)me}, shared = {seed};
    double                start_s = stress_now_s();
    long                  round = 0, value = 0;
    do {
        for (int i = 0; i < ROUNDS; i++) {
            value++;
            if (stress_pick(&numbers, 10) == 0) {
                double until_s = stress_now_s() + (double)stress_pick(&numbers, 50) / 1e6;
                while (stress_now_s() < until_s) continue;
            }
            bool sync = stress_pick(&shared, 2); /* the same on all PEs */
            for (int pe = 0; pe < n; pe++) shmem_long_p(&counts[me], value, pe);
            if (sync) {
                shmem_quiet();
                shmem_sync_all();
            } else {
                shmem_barrier_all();
            }
            for (int pe = 0; pe < n; pe++) {
                long seen = __atomic_load_n(&counts[pe], __ATOMIC_RELAXED);
                CHECK(seen == value || seen == value + 1);
            }
        }
    } while (stress_go_on(++round, start_s));
    if (me == 0) printf("%ld barriers\n", value);
    shmem_finalize();
    return api_result();
}
