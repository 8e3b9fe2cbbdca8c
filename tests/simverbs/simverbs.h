/* SPDX-License-Identifier: Apache-2.0
 *
 * What the simulator offers to programs that know of it: the token scheduler.
 *
 * A set of processes runs many seeds. In each, one thread at a time runs, the one that holds the token; every verbs call
 * and simverbs_yield() pass it on to whom the seed chooses: a thread of any process, or the NIC of any process, which then
 * takes one step. Time is simulated. So a seed decides everything, and a seed that failed is replayed alone.
 *
 * Threads that have not begun (and what they do outside verbs calls) are not ordered: they must not use verbs meanwhile.
 * A thread with the token must not wait for another one but by simverbs_yield() in a loop.
 */
#ifndef SIMVERBS_SIMVERBS_H
#define SIMVERBS_SIMVERBS_H

#include <stdbool.h>
#include <stdint.h>

/* Once in each process, after fork: this is process number `process`, each has so many threads that take part. */
void simverbs_attach(unsigned process, unsigned processes, unsigned threads);

/*
 * In every thread of every process: wait for all, then for the token. Thread 0 has read SIMVERBS again, so that it may differ
 * from seed to seed; the value of `seed` there is not looked at. No verbs object of the seed before may be left.
 */
void simverbs_begin(unsigned thread, uint64_t seed);
void simverbs_end(void); /* give the token away until the next begin */

void     simverbs_yield(void);
bool     simverbs_takes_part(void); /* this thread has begun, and the call does not come from the scheduler itself */
uint64_t simverbs_now_ns(void);
uint64_t simverbs_steps(void); /* choices made since all began: a guard against seeds without end */
uint64_t simverbs_trace(void); /* a hash of the choices: equal for equal runs                     */

/*
 * For what catches calls that would sleep in the kernel. key: anything but 0. A sleeper is not chosen until somebody calls simverbs_wake() with its
 * key, or it is until_ns (UINT64_MAX: never); true: woken. If all sleep without end, the seed ends with a word about it. A waiter looks again
 * whenever something happens in its process's NIC, or at until_ns.
 */
bool     simverbs_sleep(uint64_t key, uint64_t until_ns);
unsigned simverbs_wake(uint64_t key, unsigned count); /* how many were woken */
void     simverbs_wait(uint64_t until_ns);

/* A thread that comes later: its creator calls spawn(), it calls enter() with that number, and simverbs_end() at its end. */
unsigned simverbs_spawn(void);
void     simverbs_enter(unsigned number);
bool     simverbs_starts_nic(void); /* in pthread_create(): the thread is the simulator's own */

/* So far in this process: send requests posted, and calls that posted them (a call rings the doorbell once). */
void simverbs_posted(uint64_t *requests_out, uint64_t *doorbells_out);

/* What this process's queue pairs have under way, on standard error. */
void simverbs_describe(void);

/*
 * Call this at each step in the life of a message, NULL: no longer. `what` is one of: leaves (a packet; where: its offset in the message),
 * arrives, lands (bytes; where: their address), answers, answered, completes, is received.
 */
void simverbs_watch(void (*tell)(const char *what, uint32_t qpn, uint32_t message, uint64_t where, uint64_t bytes));

/* From now on this process's NIC does nothing, as when the machine has lost its power. */
void simverbs_vanish(unsigned process);

/* At this step (of simverbs_steps()) this process is killed, whatever it is about to do. */
void simverbs_kill_at(unsigned process, uint64_t step);

bool simverbs_alive(unsigned process); /* it has a NIC that works */

/* This process ends without closing anything: for the others it is gone. The caller goes on without the token, and exits at once. */
void simverbs_gone(void);

#endif
