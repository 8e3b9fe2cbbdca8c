/* SPDX-License-Identifier: Apache-2.0
 *
 * Checked mode: PE 1 clears a lock that PE 0 holds, and is told who has it, instead of waiting for a successor that never comes.
 * Spec: OpenSHMEM 1.6 §E, §9.13.1 shmem_clear_lock
 * PES: 2 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * TIMEOUT: 30
 * OUTPUT: PE 1: shmem_clear_lock: this PE does not hold the lock at .*static data
 * OUTPUT: the last to take it or to queue for it is PE 0
 * NOOUTPUT: came back
 */
#include "../api.h"

static long lock;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        shmem_clear_lock(&lock);
        puts("shmem_clear_lock came back");
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
