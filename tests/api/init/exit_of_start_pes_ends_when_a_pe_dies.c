/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2 3
 * STATUS: 143
 * OUTPUT: output of PE 0
 * OUTPUT: the first handler of PE 0
 *
 * A PE that waits for others in the exit handler of start_pes ends at once when another PE dies: its output is written, and the
 * handlers that are left run. Spec: OpenSHMEM 1.6 §9.1.13 start_pes, §9.1.6 shmem_global_exit.
 */
#include "../api.h"

#include <signal.h>
#include <unistd.h>

static void first_handler(void)
{
    printf("the first handler of PE %d\n", api_pe());
}

int main(void)
{
    atexit(first_handler);
    start_pes(0);
    api_pe();
    printf("output of PE %d\n", api_pe()); /* into a pipe: it is written at the end */
    shmem_barrier_all();
    if (shmem_my_pe() == shmem_n_pes() - 1) {
        usleep(100000); /* the others wait in exit by now, mostly */
        raise(SIGTERM);
    }
    return 0;
}
