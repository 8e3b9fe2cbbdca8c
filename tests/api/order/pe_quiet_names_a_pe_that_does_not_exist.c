/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 3
 * ENV: POSTERN_CHECK=1
 * STATUS: 1
 * OUTPUT: shmem_pe_quiet: there is no PE 99
 *
 * In checked mode a number in the list that is no PE of the team is an error on every route.
 * Spec: OpenSHMEM 1.6 §9.12.3 shmem_pe_quiet
 */
#include "../api.h"

int main(void)
{
    shmem_init();
    const int list[2] = {shmem_my_pe(), 99};
    shmem_pe_quiet(list, 0); /* an empty list is not looked at */
    shmem_pe_quiet(list, 1);
    shmem_pe_quiet(list, 2);
    shmem_finalize();
    return 0;
}
