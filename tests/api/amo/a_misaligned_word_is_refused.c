/* SPDX-License-Identifier: Apache-2.0
 *
 * With checks on, an atomic operation on an address that is no multiple of its type's size ends the job with a message.
 * Spec: OpenSHMEM 1.6 §3.1 Pointers to Symmetric Objects, §9.7 Atomic Memory Operations, §C Undefined Behavior
 * PES: 1 2
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_long_atomic_inc: address 0x.* is not a multiple of 8
 */
#include "../api.h"

int main(void)
{
    static long words[2];
    shmem_init();
    shmem_long_atomic_inc((long *)(void *)((char *)words + 4), 0);
    shmem_finalize();
    return 0;
}
