/* SPDX-License-Identifier: Apache-2.0
 *
 * How a job of PMIx ends: shmem_global_exit, errors, deaths, and exit() of the program in whatever state.
 */
#ifndef SHMEMI_PMIX_END_H
#define SHMEMI_PMIX_END_H

#include "runtime/bootstrap/bootstrap.h"

/* Once, after PMIx_Init: register for its events and for exit(). 0 or a negative errno after an error message. */
int shmemi_pmix_end_prepare(void);

/* At each open() and close(): SIGTERM is the launcher's word that the job ends, where the program has no handler of its own. */
void shmemi_pmix_end_take_signal(void);
void shmemi_pmix_end_give_signal_back(void);

/* Look at notes of other PEs and at the clock. true: the job ends, and *event_out says how (the first time it is asked: taken). */
bool shmemi_pmix_end_look(struct shmemb_event *event_out);

/* The slots of the table. */
void shmemi_pmix_end_abort(struct shmemb *b, int status, const char *reason);
void shmemi_pmix_end_leaving(struct shmemb *b, uint64_t barriers, int exit_status);

/* The PE has come out of its last shmem_finalize: its right neighbour must have been in it too. */
void shmemi_pmix_end_tell_left(void);

/* When the next look is due for the clock's sake. < 0: never. */
int64_t shmemi_pmix_end_deadline_ns(void);

#endif
