/* SPDX-License-Identifier: Apache-2.0
 *
 * Same arguments everywhere, else undefined. Here a PE of another node that asks for another size is found at once, and both are named, where
 * no PE maps the other.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines, §C Undefined Behavior
 * NODES: a,b a:2,b
 * PES: 2 3
 * STATUS: 1
 * OUTPUT: PEs . and . do not make the same heap calls
 * OUTPUT: call number 2 is shmem_malloc.(64|65). on PE . and shmem_malloc.(64|65). on PE .
 */
#include "nodes.h"

int main(void)
{
    shmem_init();
    int   last  = shmem_my_pe() == shmem_n_pes() - 1;
    void *block = shmem_malloc(100);
    block       = shmem_malloc(last ? 65 : 64);
    (void)block;
    shmem_finalize();
    return 0;
}
