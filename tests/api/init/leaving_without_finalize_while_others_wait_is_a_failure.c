/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4
 * STATUS: fail
 * OUTPUT: PE 1 .*without shmem_finalize
 *
 * Implicit finalization exists for start_pes only. Others would wait for ever, so the job ends and says who left.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize, §F.2.3 Implicit Finalization
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 1) return 0;
    shmem_finalize();
    return 0;
}
