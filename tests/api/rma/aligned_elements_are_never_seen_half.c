/* SPDX-License-Identifier: Apache-2.0
 *
 * An aligned element of 4 or 8 bytes written by p or put is read whole or not at all: flags written by puts rely on it. On
 * mapped memory that holds for 2 bytes too; a transport owes it for the types of wait and test only.
 * Spec: OpenSHMEM 1.6 §9.6.1.1 shmem_put, §9.6.1.2 shmem_p, §9.11 Point-To-Point Synchronization; gap: flags written by puts
 * PES: 2 3
 */
#include "../api.h"

enum { ROUNDS = 20000, ROUNDS_POSTED = 500 };

static uint64_t word8[2];
static uint32_t word4[2];
static uint16_t word2[2];
static long     done;

int main(void)
{
    shmem_init();
    int  me = shmem_my_pe(), n = shmem_n_pes();
    bool mapped = shmem_ptr(word8, n - 1) != NULL;
    if (me == n - 1) mapped = shmem_ptr(word8, 0) != NULL; /* the same question, from the other side */
    int rounds = mapped ? ROUNDS : ROUNDS_POSTED;
    shmem_barrier_all();
    if (me == 0) {
        for (int i = 0; i < rounds; i++) {
            uint64_t value      = i % 2 ? UINT64_MAX : 0;
            uint32_t half       = (uint32_t)value;
            uint16_t short_half = (uint16_t)value;
            shmem_uint64_p(&word8[0], value, n - 1);
            shmem_uint64_put(&word8[1], &value, 1, n - 1);
            shmem_uint32_p(&word4[0], half, n - 1);
            shmem_put32(&word4[1], &half, 1, n - 1);
            shmem_uint16_p(&word2[0], short_half, n - 1);
            shmem_putmem(&word2[1], &short_half, 2, n - 1);
        }
        shmem_quiet();
        shmem_long_atomic_set(&done, 1, n - 1);
    } else if (me == n - 1) {
        while (!shmem_long_test(&done, SHMEM_CMP_EQ, 1)) {
            for (int k = 0; k < 2; k++) {
                uint64_t seen8 = __atomic_load_n(&word8[k], __ATOMIC_RELAXED);
                uint32_t seen4 = __atomic_load_n(&word4[k], __ATOMIC_RELAXED);
                uint16_t seen2 = __atomic_load_n(&word2[k], __ATOMIC_RELAXED);
                CHECK(seen8 == 0 || seen8 == UINT64_MAX);
                CHECK(seen4 == 0 || seen4 == UINT32_MAX);
                CHECK(!mapped || seen2 == 0 || seen2 == UINT16_MAX);
            }
        }
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
