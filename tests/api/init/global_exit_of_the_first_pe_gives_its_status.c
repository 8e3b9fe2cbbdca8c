/* SPDX-License-Identifier: Apache-2.0
 *
 * STATUS: 42
 * NOOUTPUT: came back
 *
 * The job ends with the status given, whatever the others do. B07.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "busy.h"

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        busy_others_begin();
        shmem_global_exit(42);
    }
    busy();
    return 9;
}
