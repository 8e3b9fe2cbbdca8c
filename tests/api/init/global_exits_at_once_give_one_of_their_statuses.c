/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3 4 8
 * STATUS: 40|41
 * NOOUTPUT: came back
 *
 * If several PEs call it, the status of the job is one of theirs. B07.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "busy.h"

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() < 2) {
        busy_others_begin();
        shmem_global_exit(40 + shmem_my_pe());
    }
    busy();
    return 9;
}
