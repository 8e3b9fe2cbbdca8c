/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_wait_until for long is a function beside the generic of the same name: called in parentheses, by pointer, and as its twin. So are shmem_wait, and
 * the generic on the deprecated types, short and unsigned short.
 * Spec: OpenSHMEM 1.6 §9.11.1 shmem_wait_until, §9.11.8 shmem_test, §F.2.11, §F.2.16
 * PES: 1 2
 */
#include "../api.h"

#include <pshmem.h>

static long           word;
static short          small;
static unsigned short usmall;

int main(void)
{
    void (*by_pointer)(long *ivar, int cmp, long cmp_value) = shmem_wait_until;
    void (*old)(long *ivar, long cmp_value)                 = shmem_wait;
    shmem_init();
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (long round = 1; round <= 40; round++) {
        shmem_long_p(&word, round, next);
        switch (round % 4) {
        case 0: (shmem_wait_until)(&word, SHMEM_CMP_EQ, round); break;
        case 1: by_pointer(&word, SHMEM_CMP_GE, round); break;
        case 2: pshmem_wait_until(&word, SHMEM_CMP_GT, round - 1); break;
        default: old(&word, round - 1); break;
        }
        CHECK_EQUAL(word, round);
        shmem_short_p(&small, (short)-round, next);
        shmem_wait_until(&small, SHMEM_CMP_LT, (short)(1 - round));
        CHECK(shmem_test(&small, SHMEM_CMP_EQ, (short)-round));
        shmem_ushort_p(&usmall, (unsigned short)(0x8000 + round), next);
        shmem_wait_until(&usmall, SHMEM_CMP_EQ, (unsigned short)(0x8000 + round));
        CHECK(shmem_test(&usmall, SHMEM_CMP_GT, 0x7fff));
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}
