/* SPDX-License-Identifier: Apache-2.0
 *
 * A handler for SIGUSR2 that the program sets after init is still there after finalize.
 * PES: 1 2
 * NOOUTPUT: waits in
 * Spec: none; the design's: the handler is taken back only where it is still the library's
 */
#include "../api.h"

#include <signal.h>

static volatile sig_atomic_t calls;

static void handler(int number)
{
    (void)number;
    calls++;
}

int main(void)
{
    struct sigaction mine = {.sa_handler = handler};
    shmem_init();
    CHECK_EQUAL(sigaction(SIGUSR2, &mine, NULL), 0);
    shmem_barrier_all();
    shmem_finalize();
    raise(SIGUSR2);
    CHECK_EQUAL(calls, 1);
    return api_result();
}
