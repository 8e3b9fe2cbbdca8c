/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 3
 * STATUS: 137
 * TIMEOUT: 30
 * OUTPUT: buffered line of PE 0
 * OUTPUT: buffered line of PE 1
 * OUTPUT: buffered line of PE 2
 * OUTPUT: and after finalize, PE 0
 * OUTPUT: and after finalize, PE 2
 *
 * An exit handler that finalizes comes back at once when the job ends: there is nobody to meet in a barrier.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize
 */
#include "ending.h"

static void handler(void)
{
    printf("handler of PE %d\n", api_pe());
    shmem_finalize();
    printf("and after finalize, PE %d\n", api_pe());
}

int main(void)
{
    return ending(handler, ending_by_death, 0);
}
