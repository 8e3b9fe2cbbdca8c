/* SPDX-License-Identifier: Apache-2.0
 *
 * All PEs free the same block, else undefined. Here a PE of another node that frees another one is found at once.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines, §C Undefined Behavior
 * NODES: a,b
 * PES: 2 3
 * STATUS: 1
 * OUTPUT: PEs . and . do not make the same heap calls
 */
#include "nodes.h"

int main(void)
{
    shmem_init();
    void *one = shmem_malloc(100), *other = shmem_malloc(100);
    shmem_free(shmem_my_pe() == 1 ? one : other);
    shmem_finalize();
    return 0;
}
