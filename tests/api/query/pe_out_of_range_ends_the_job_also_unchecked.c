/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * ENV: POSTERN_CHECK=0
 * STATUS: 1
 * OUTPUT: PE 0: shmem_long_p: there is no PE
 *
 * A PE number that does not exist is found without checked mode too, and all PEs end.
 * Spec: OpenSHMEM 1.6 §C Undefined Behavior
 */
#include "../api.h"

static long word;

int main(void)
{
    shmem_init();
    if (shmem_my_pe() == 0) shmem_long_p(&word, 1, shmem_n_pes());
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
