/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * STATUS: 1
 * OUTPUT: has left the job by shmem_finalize, and PE 1 cannot follow
 * OUTPUT: fix: call shmem_init and shmem_finalize equally often on every PE
 *
 * Every shmem_finalize is collective, so PEs must nest shmem_init equally deep. Where one PE goes for good and another has one more
 * to make, nobody would ever meet that one: it is named, and does not wait in silence. Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize.
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    bool deeper = shmem_my_pe() == 1;
    if (deeper) shmem_init();
    shmem_finalize();
    if (deeper) shmem_finalize();
    return 0;
}
