/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4
 * ENV: POSTERN_COLL_SYNC=dissemination
 * STATUS: 1
 * NOCHAOS: a PE that reads what the other has called may find its next call, which is the same
 * NONODES: the same, between PEs of two nodes
 * OUTPUT: PE . has made only 1, and is in a barrier|PE . calls shmem_(malloc|barrier_all) where this PE calls shmem_(malloc|barrier_all)
 *
 * A heap call and a barrier in one order here and in the other there: both PEs make the same number of calls, and it is found all the same.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    int   last  = shmem_my_pe() == shmem_n_pes() - 1;
    void *block = shmem_malloc(100);
    if (last) shmem_barrier_all();
    block = shmem_malloc(40);
    if (!last) shmem_barrier_all();
    (void)block;
    shmem_finalize();
    return 0;
}
