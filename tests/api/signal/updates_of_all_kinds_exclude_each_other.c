/* SPDX-License-Identifier: Apache-2.0
 *
 * A signal word is updated by real atomics: additions by put_signal, its nonblocking form, signal_add and 64-bit atomics at once
 * lose nothing, and the owner's signal_fetch sees a sum that never falls. The standard promises that for updates by one operator
 * only; the rest is our choice.
 * Spec: OpenSHMEM 1.6 §9.8.1 Atomicity Guarantees for Signaling Operations, §9.8.6 shmem_signal_fetch
 * PES: 2 3
 */
#include "../api.h"

enum { ROUNDS = 300 };

static uint64_t word;
static long     data[8];

int main(void)
{
    shmem_init();
    int      me = shmem_my_pe(), n = shmem_n_pes();
    uint64_t last  = 0;
    long     value = me;
    shmem_barrier_all();
    for (int round = 0; round < ROUNDS; round++) {
        int pe = round % n;
        shmem_long_put_signal(&data[me], &value, 1, &word, 1, SHMEM_SIGNAL_ADD, pe);
        shmem_long_put_signal_nbi(&data[me], &value, 1, &word, 10, SHMEM_SIGNAL_ADD, pe);
        shmem_signal_add(&word, 100, pe);
        shmem_uint64_atomic_add(&word, 1000, pe);
        uint64_t now = shmem_signal_fetch(&word);
        CHECK(now >= last);
        last = now;
    }
    shmem_barrier_all();
    CHECK_EQUAL(shmem_signal_fetch(&word), 1111 * ROUNDS / n * n);
    shmem_finalize();
    return api_result();
}
