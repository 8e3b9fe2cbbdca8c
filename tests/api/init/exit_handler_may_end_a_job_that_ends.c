/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 3
 * STATUS: 7
 * TIMEOUT: 30
 * OUTPUT: buffered line of PE 0
 * OUTPUT: buffered line of PE 1
 * OUTPUT: buffered line of PE 2
 * OUTPUT: handler of PE 0
 * OUTPUT: handler of PE 1
 * OUTPUT: handler of PE 2
 *
 * shmem_global_exit in an exit handler of a job that ends already: the first status stays, and no output is lost.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "ending.h"

static void handler(void)
{
    printf("handler of PE %d\n", api_pe());
    shmem_global_exit(3);
}

int main(void)
{
    return ending(handler, ending_by_global_exit, 0);
}
