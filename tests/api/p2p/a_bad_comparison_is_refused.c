/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison that is none of the six ends the job with a message that names the call, instead of waiting for ever.
 * Spec: OpenSHMEM 1.6 §9.11 Point-To-Point Synchronization Routines
 * PES: 1 2
 * STATUS: 1
 * OUTPUT: shmem_int_wait_until: comparison operator 77
 */
#include "../api.h"

int main(void)
{
    static int word;
    shmem_init();
    shmem_int_wait_until(&word, 77, 1);
    shmem_finalize();
    return 0;
}
