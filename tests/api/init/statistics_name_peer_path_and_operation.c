/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2
 * ENV: POSTERN_STATS=1
 * NOCHAOS: the name of the path is part of the line
 * OUTPUT: PE 0: to PE 1 over shm: put 3 calls, 24 bytes
 * OUTPUT: PE 0: to PE 1 over shm: get 1 calls, 8 bytes
 * OUTPUT: PE 0: to PE 1 over shm: atomic 2 calls, 16 bytes
 * OUTPUT: PE 0: to PE 1 over shm: signal 1 calls, 8 bytes
 * NOOUTPUT: PE 1: to PE 0 over
 *
 * POSTERN_STATS=1 prints what this PE did to each other one, by which way. Spec: none; an extension.
 */
#include "../api.h"

static long     word, data;
static uint64_t signal_word;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) {
        for (int i = 0; i < 3; i++) shmem_long_p(&data, i, 1);
        CHECK(shmem_long_g(&data, 1) <= 2);
        shmem_long_atomic_inc(&word, 1);
        shmem_long_atomic_add(&word, 2, 1);
        shmem_long_put_signal(&data, &data, 1, &signal_word, 1, SHMEM_SIGNAL_SET, 1);
    }
    shmem_finalize();
    return api_result();
}
