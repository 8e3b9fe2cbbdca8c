/* SPDX-License-Identifier: Apache-2.0
 *
 * Waiting: spin for a while, then sleep on the PE's futex word (docs/decisions/0021-waits-spin-as-long-as-a-sleep-costs.md).
 *
 * A sleeper and a writer use the two-flag pattern (store mine, read yours). Between the two a full barrier is owed on both
 * sides. Waits are rare and stores are not, so the sleeper pays for both: it publishes `asleep` and its range, calls
 * membarrier(GLOBAL_EXPEDITED), which puts a full barrier into every running PE of the node, reads the word again, and
 * only then sleeps. A writer stores and reads `asleep` with a compiler barrier between. Either its read comes after the
 * sleeper's publication, and it wakes; or its store came before the sleeper's second read, which sees it. Where membarrier
 * is missing on any PE, writers fence (state.writers_fence).
 *
 * Some writers never look (stores through shmem_ptr, NICs, GPUs), so every sleep is bounded: state.sleep_ns, and
 * eight times that once a wait has lasted 8 sleeps. A progress thread wakes everybody whenever it has brought something in.
 */
#ifndef SHMEMI_WAIT_H
#define SHMEMI_WAIT_H

#include "runtime/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a thread waits for, for SIGUSR2, time limits and the launcher's report. All members are constant during the wait. */
struct shmemi_wait {
    const char *call;    /* "shmem_long_wait_until"                                        */
    const void *address; /* first watched byte, or NULL: nothing in symmetric memory       */
    size_t      bytes;   /* watched range                                                  */
    unsigned    width;   /* bytes of one word, for showing the value; 0: do not             */
    int         cmp;     /* SHMEM_CMP_*, with width                                        */
    uint64_t    wanted;
    int         pe; /* the peer it depends on, where known, else -1                   */
};

/* True once the wait is over. Must read shared words atomically, with acquire order where it answers true. */
typedef bool shmemi_wait_ready(void *argument);

/*
 * Return when ready(argument) is true. Moves posted traffic on. Ends the job with a report after POSTERN_WAIT_TIMEOUT.
 * Blocks the calling thread only.
 */
void shmemi_wait_for(const struct shmemi_wait *wait, shmemi_wait_ready *ready, void *argument);

/*
 * How often a wait looks at its word before it does anything else. Where a PE has a core to itself the next thing is a pause, which may wait; where it
 * moves traffic on, that may not; and where PEs are more than cores the one that is waited for needs this core: with 256 looks a barrier of 16 PEs on 2
 * cores takes 12 to 19 us, with 16 it takes 11.
 */
SHMEMI_INLINE unsigned shmemi_wait_looks(void)
{
    enum { ALONE = 4096, WITH_TRAFFIC = 256, CROWDED = 16 };
    if (shmemi_state.crowded) return CROWDED;
    return shmemi_state.posted || shmemi_state.spin_ns == 0 ? WITH_TRAFFIC : ALONE;
}

/*
 * The same for who has looked shmemi_wait_looks() times already. These first looks are made by the caller where it knows a loop for its word: they
 * are without a pause, which costs 40 ns on current CPUs, a third of a signal's way between two cores, and what the last of them costs is
 * part of each signal's way.
 */
void shmemi_wait_longer(const struct shmemi_wait *wait, shmemi_wait_ready *ready, void *argument);

/* A PE of this node may sleep on [mapped, mapped + bytes), which was just stored to. Any thread. */
void shmemi_wait_wake(unsigned local, const void *mapped, size_t bytes);

/*
 * This PE's sleepers that wait for no symmetric memory, but for the end of an operation of their own: a transport has moved on. (Who waits for
 * memory is woken by shmemi_wait_wake(), or looks for itself.) Any thread.
 */
void shmemi_wait_wake_own(void);

/* As shmemt_job.wake: orders the stores before the look, then wakes if need be. */
void shmemi_wait_stored(int local, const void *mapped, size_t bytes);

/* membarrier registration of this process: true if it can be used. */
bool shmemi_wait_register(void);

/* One line for each thread that waits, to a descriptor. Async-signal-safe. Returns the number of lines. */
int shmemi_wait_report(int fd);

/* SIGUSR2 prints shmemi_wait_report(), where the program has left the default. */
void shmemi_wait_signal_install(void);
void shmemi_wait_signal_remove(void);

#endif
