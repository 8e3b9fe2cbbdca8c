/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4
 * STATUS: 1
 * OUTPUT: PE . has made only 1, and is in a barrier|PE . calls shmem_(malloc|barrier_all) where this PE calls shmem_(malloc|barrier_all)
 *
 * A heap call of some PEs meets a shmem_barrier_all of another: their barriers pair up, and it is found all the same.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    int   last  = shmem_my_pe() == shmem_n_pes() - 1;
    void *block = shmem_malloc(100);
    if (last) shmem_barrier_all();
    else block = shmem_malloc(40);
    (void)block;
    shmem_finalize();
    return 0;
}
