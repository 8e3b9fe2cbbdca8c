/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4
 * STATUS: 1
 * OUTPUT: PEs . and . do not make the same heap calls
 * OUTPUT: shmem_free.heap
 * OUTPUT: shmem_calloc.2, 8.
 *
 * Same calls in the same order everywhere. Both calls are named with their arguments.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines, §C Undefined Behavior
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    int   last  = shmem_my_pe() == shmem_n_pes() - 1;
    void *block = shmem_malloc(100);
    if (last) shmem_free(block);
    else block = shmem_calloc(2, 8);
    shmem_finalize();
    return 0;
}
