/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4
 * STATUS: 1
 * OUTPUT: PEs . and . do not make the same heap calls
 * OUTPUT: call number 2 is shmem_malloc.(64|65). on PE . and shmem_malloc.(64|65). on PE .
 *
 * Same arguments everywhere, else undefined. Here the mismatch is found at once and both sides are named.
 * Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines, §C Undefined Behavior
 */
#include "../api.h"

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
