/* SPDX-License-Identifier: Apache-2.0
 *
 * The progress thread: serves the other PEs while the program's own threads compute. Only where a transport in use asks for it.
 */
#ifndef SHMEMI_PROGRESS_H
#define SHMEMI_PROGRESS_H

#include "runtime/state.h"

/*
 * How the transports that may be posted to move on, for the report and POSTERN_REQUIRE: needs, one of them wants a thread. Once they are open.
 * 0, or -EINVAL, logged: the place that the user wants for the thread makes no sense.
 */
int shmemi_progress_report(bool needs);

/*
 * Start the thread, if a posted route needs one. After the routes are known. 0 or a negative errno, logged.
 * Afterwards shmemi_state.silent_writers tells whether words may change without anybody waking a sleeper.
 */
int shmemi_progress_start(void);

/* Stop it and close its contexts. Before the transports close. Safe at any stage. */
void shmemi_progress_stop(void);

/* A thread of the program goes to sleep in a wait, and has published that: the progress thread goes to work at once. */
void shmemi_progress_take_over(void);

/*
 * The progress slot of a transport's context, by a thread of the program. What it brought in may be what another thread sleeps for, so that one
 * is woken.
 */
int shmemi_progress_call(struct shmemt_ctx *ctx);

#endif
