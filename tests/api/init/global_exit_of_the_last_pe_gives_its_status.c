/* SPDX-License-Identifier: Apache-2.0
 *
 * STATUS: 43
 * NOOUTPUT: came back
 *
 * Any one PE may call it, the last as well as the first. B07.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "busy.h"

int main(void)
{
    shmem_init();
    shmem_barrier_all();
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        busy_others_begin();
        shmem_global_exit(43);
    }
    busy();
    return 9;
}
