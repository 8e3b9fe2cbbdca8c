/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4
 * STATUS: 1
 * OUTPUT: PE 1: shmem_free: 0x.* is not the start of a block of the symmetric heap
 *
 * One PE frees a wrong pointer: the whole job ends with status 1, though the others wait in their free.
 * Spec: OpenSHMEM 1.6 §9.3.2 shmem_free
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    char *block = shmem_malloc(1000);
    if (shmem_my_pe() == 1) block += 8;
    shmem_free(block);
    return 0;
}
