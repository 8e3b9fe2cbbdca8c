/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 3
 * STATUS: 7
 * OUTPUT: buffered line of PE 0
 * OUTPUT: buffered line of PE 1
 * OUTPUT: buffered line of PE 2
 * OUTPUT: handler of PE 0
 * OUTPUT: handler of PE 1
 * OUTPUT: handler of PE 2
 *
 * Standard output is flushed and resources are released as in normal termination, on every PE.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "busy.h"

static void handler(void)
{
    printf("handler of PE %d\n", api_pe());
}

int main(void)
{
    shmem_init();
    atexit(handler);
    printf("buffered line of PE %d", shmem_my_pe()); /* to a pipe: stays in the buffer */
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        busy_others_begin();
        shmem_global_exit(7);
    }
    busy_at(shmem_my_pe() / 2); /* a barrier, and a wait */
    return 9;
}
