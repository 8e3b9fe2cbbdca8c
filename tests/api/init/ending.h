/* SPDX-License-Identifier: Apache-2.0
 *
 * A job that ends while all PEs but one are busy, and what exit handlers of the program then may do. PE 1 ends it by now(); the others
 * are in a call that waits and in a computation. Every PE has a line in its buffer of standard output, and writes another in its handler.
 */
#ifndef POSTERN_TESTS_API_INIT_ENDING_H
#define POSTERN_TESTS_API_INIT_ENDING_H

#include "busy.h"

#include <signal.h>

static inline void ending_by_global_exit(void)
{
    shmem_global_exit(7);
}

static inline void ending_by_death(void)
{
    fflush(stdout); /* nobody else will */
    raise(SIGKILL);
}

/* handler: to be called at exit. now: ends the job on PE 1. kind: of busy.h, what PE 0 is in. */
static inline int ending(void (*handler)(void), void (*now)(void), int kind)
{
    shmem_init();
    atexit(handler);
    printf("buffered line of PE %d\n", shmem_my_pe()); /* to a pipe: stays in the buffer */
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        busy_others_begin();
        now();
    }
    busy_at(shmem_my_pe() == 0 ? kind : 4);
    return 9;
}

#endif
