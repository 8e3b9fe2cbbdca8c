/* SPDX-License-Identifier: Apache-2.0
 *
 * STATUS: 3
 * NOOUTPUT: signal
 *
 * B03: one PE returns 3 from main after a proper finalize. That is the status of the job, and nobody is killed for it.
 */
#include "../api/api.h"

int main(void)
{
    shmem_init();
    int me = shmem_my_pe();
    shmem_barrier_all();
    shmem_finalize();
    return me == 0 ? 3 : 0;
}
