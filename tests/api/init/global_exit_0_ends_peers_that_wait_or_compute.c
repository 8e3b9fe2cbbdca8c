/* SPDX-License-Identifier: Apache-2.0
 *
 * STATUS: 0
 * NOOUTPUT: came back
 *
 * Status 0 must end the job too. B06.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "busy.h"

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        busy_others_begin();
        shmem_global_exit(0);
    }
    busy();
    return 9;
}
