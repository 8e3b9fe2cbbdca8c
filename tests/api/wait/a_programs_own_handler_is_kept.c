/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that has its own handler for SIGUSR2 before init keeps it through init and finalize.
 * PES: 1 2
 * NOOUTPUT: waits in
 * Spec: none; the design's: the handler is installed only where the program has left the default
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
    struct sigaction mine = {.sa_handler = handler}, now;
    CHECK_EQUAL(sigaction(SIGUSR2, &mine, NULL), 0);
    shmem_init();
    raise(SIGUSR2);
    CHECK_EQUAL(calls, 1);
    shmem_barrier_all();
    shmem_finalize();
    raise(SIGUSR2);
    CHECK_EQUAL(calls, 2);
    CHECK(sigaction(SIGUSR2, NULL, &now) == 0 && now.sa_handler == handler);
    return api_result();
}
