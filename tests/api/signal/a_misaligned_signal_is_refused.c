/* SPDX-License-Identifier: Apache-2.0
 *
 * With checks on, a signal word that is not aligned to 8 bytes ends the job with a message.
 * Spec: OpenSHMEM 1.6 §3.1 Pointers to Symmetric Objects, §9.8 Signaling Operations
 * PES: 1 2
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_signal_set: signal word at 0x.* is not a multiple of 8
 */
#include "../api.h"

int main(void)
{
    static uint64_t words[2];
    shmem_init();
    shmem_signal_set((uint64_t *)(void *)((char *)words + 4), 1, 0);
    shmem_finalize();
    return 0;
}
