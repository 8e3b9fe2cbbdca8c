/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 3
 * STATUS: 137
 * TIMEOUT: 30
 * OUTPUT: buffered line of PE 0
 * OUTPUT: buffered line of PE 1
 * OUTPUT: buffered line of PE 2
 * OUTPUT: handler of PE 0
 * OUTPUT: handler of PE 2
 *
 * A barrier in an exit handler of a job that ends has not all to meet: the process ends, and loses no output.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "ending.h"

static void handler(void)
{
    printf("handler of PE %d\n", api_pe());
    if (api_pe() != 2) shmem_barrier_all(); /* were it there, this would be a barrier of all */
}

int main(void)
{
    return ending(handler, ending_by_death, 1);
}
