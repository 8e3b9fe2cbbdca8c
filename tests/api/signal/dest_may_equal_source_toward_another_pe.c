/* SPDX-License-Identifier: Apache-2.0
 *
 * The standard's own example: data goes round all PEs by put_signal from an array to the array of the same name.
 * Spec: OpenSHMEM 1.6 §4.2 Invoking OpenSHMEM Operations, §9.8.3 shmem_put_signal
 * ENV: POSTERN_CHECK=1
 */
#include "../api.h"

enum { COUNT = 2048 };

int main(void)
{
    static uint64_t word;
    static long     data[COUNT];
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    for (long i = 0; i < COUNT; i++) data[i] = me == 0 ? i * 3 : -1;
    shmem_barrier_all();
    if (me == 0) {
        if (n > 1) shmem_long_put_signal(data, data, COUNT, &word, 1, SHMEM_SIGNAL_SET, next);
    } else {
        shmem_signal_wait_until(&word, SHMEM_CMP_EQ, 1);
        for (long i = 0; i < COUNT; i++) CHECK_EQUAL(data[i], i * 3);
        if (next != 0) shmem_long_put_signal(data, data, COUNT, &word, 1, SHMEM_SIGNAL_SET, next);
    }
    shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
