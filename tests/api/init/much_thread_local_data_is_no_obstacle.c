/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 *
 * Thread-local data lie on each thread's stack, also on that of a thread of the library: a program with 1 MiB of them starts and works.
 * Spec: OpenSHMEM 1.6 §9.1.1 shmem_init
 */
#include "../api.h"

enum { BYTES = 1 << 20 };

static _Thread_local volatile char mine[BYTES];
static long                        word;

int main(void)
{
    mine[BYTES - 1] = 5;
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    shmem_long_p(&word, me + mine[BYTES - 1], (me + 1) % n);
    shmem_barrier_all();
    CHECK_EQUAL(word, (me + n - 1) % n + 5);
    shmem_finalize();
    return api_result();
}
