/* SPDX-License-Identifier: Apache-2.0
 *
 * What a PE may be doing when another one ends the job: each PE does one of these, by its number, and none comes back.
 */
#ifndef POSTERN_TESTS_API_INIT_BUSY_H
#define POSTERN_TESTS_API_INIT_BUSY_H

#include "../api.h"

#include <unistd.h>

static long          busy_word, busy_lock;
static uint64_t      busy_signal;
static char          busy_source[1 << 20];
static volatile long busy_sum;

enum { BUSY_KINDS = 7 };

static inline void busy_at(int kind)
{
    static char copy[sizeof busy_source];
    switch (kind) {
    case 0: shmem_barrier_all(); break;
    case 1:
        shmem_set_lock(&busy_lock);
        shmem_long_wait_until(&busy_word, SHMEM_CMP_NE, 0);
        break;
    case 2: /* a lock that a PE of kind 1 takes at some time, and never gives back */
        for (;;) {
            shmem_set_lock(&busy_lock);
            shmem_clear_lock(&busy_lock);
        }
    case 3:
        for (;;) shmem_getmem(copy, busy_source, sizeof copy, 0);
    case 4:
        for (;;) busy_sum++;
    case 5: shmem_signal_wait_until(&busy_signal, SHMEM_CMP_EQ, 5); break;
    default:
        for (;;) pause();
    }
    fprintf(stderr, "PE %d: came back from kind %d\n", api_pe(), kind);
    _exit(9);
}

/* Never returns: shmem_global_exit of another PE ends it. */
static inline void busy(void)
{
    busy_at(shmem_my_pe() % BUSY_KINDS);
}

/* After the barrier: time for the others to be in what they do. Not needed for the result, only for the test's bite. */
static inline void busy_others_begin(void)
{
    usleep(100000);
}

#endif
