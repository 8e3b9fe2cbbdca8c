/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=0
 * STATUS: 1
 * OUTPUT: has left the job by shmem_finalize, and PE 1 cannot follow
 * OUTPUT: made its last shmem_finalize, PE 1 made another collective call
 *
 * All PEs make the same collective calls in the same order. One PE's barrier meets the others' shmem_finalize, and its own would wait for
 * ever: the job ends instead. (Checked mode compares calls before that.) Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize.
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 1) shmem_barrier_all();
    shmem_finalize();
    return 0;
}
