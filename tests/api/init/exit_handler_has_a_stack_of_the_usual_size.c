/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 3
 * STATUS: 7
 * OUTPUT: handler of PE 0 used its array
 * OUTPUT: handler of PE 1 used its array
 * OUTPUT: handler of PE 2 used its array
 *
 * When another PE ends the job, exit handlers of the program run on a stack of the usual size, on whatever thread: 512 KiB of locals fit.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "busy.h"

enum { ARRAY_BYTES = 512 << 10 };

static void handler(void)
{
    volatile char array[ARRAY_BYTES];
    for (size_t i = 0; i < sizeof array; i += 512) array[i] = (char)i;
    printf("handler of PE %d used its array\n", api_pe() + array[512]);
}

int main(void)
{
    shmem_init();
    atexit(handler);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        busy_others_begin();
        shmem_global_exit(7);
    }
    busy_at(shmem_my_pe() / 2); /* a barrier, and a wait */
    return 9;
}
