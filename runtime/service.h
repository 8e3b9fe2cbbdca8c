/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a job that does not end by finalize: global_exit, fatal errors, and the launcher's word that another PE did so or
 * died. One thread per PE listens to the launcher, so that a PE ends promptly, with its output flushed, whatever it is doing.
 */
#ifndef SHMEMI_SERVICE_H
#define SHMEMI_SERVICE_H

#include "runtime/base/attr.h"
#include "runtime/base/log.h"

#include <pthread.h>
#include <stdbool.h>

/* Start and stop the listening thread. start: 0 or a negative errno, logged. */
int  shmemi_service_start(void);
void shmemi_service_stop(void);

/* Wait until the new thread has come to its work, so that no fork of the program meets it in the middle of its start. Once. */
void shmemi_service_await_listener(void);

/* Wait until the listening thread no longer reads symmetric memory for a report. init_count is 0 already. */
void shmemi_service_before_unmap(void);

/* Is this the thread that ends the process, so that we are in one of the program's exit handlers? */
bool shmemi_service_ends_here(void);

/*
 * For a handler of exit(): do work(), which waits for other PEs, and come back. If the job ends while it waits (global_exit, an error), this thread goes
 * on with exit() at once, with the status of that end: so neither its output nor its other handlers wait. exit() is one thread's affair, and
 * newer C libraries block every other one in it; therefore a thread of its own does the work, and hands over what it meets.
 */
void shmemi_service_at_exit(void (*work)(void));

/*
 * As shmemt_job.failed: the way to a PE is lost. Its launcher gets a second to say what happened to the PE; else the job ends with a message that
 * names it. Returns only while the job closes its transports anyway. Any thread.
 */
void shmemi_service_lost(int pe, int error, const char *why);

/* Before a message about a PE that may be dead: a second and a bit, in which the launcher ends this one if it is. Any thread. */
void shmemi_service_give_launcher_time(void);

/* From here on a peer that closes its side is no failure: all have met for the last time. */
void shmemi_service_expect_goodbyes(void);

/* A thread without the program's signals, of the usual stack size. 0 or an errno. */
int shmemi_service_thread(pthread_t *thread_out, void *(*run)(void *), void *argument);

/* End the whole job: tell the launcher, flush standard I/O, exit. Any thread; the first caller wins, others sleep until the end. */
SHMEMI_NORETURN void shmemi_service_end(int status);

/* A call that cannot go on: one message ("call: text"), then the end of the job with status 1. */
SHMEMI_NORETURN SHMEMI_COLD void shmemi_service_fatal(const char *call, const char *format, ...) SHMEMI_PRINTF(2, 3);

/* The same, for a call before shmem_init or after the last shmem_finalize. */
SHMEMI_NORETURN SHMEMI_COLD void shmemi_service_outside(const char *call);

#endif
