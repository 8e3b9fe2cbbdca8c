/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: independent streams of operations. Spec: OpenSHMEM 1.6 §9.5 Communication Management Routines.
 */
#ifndef SHMEMI_CTX_RUNTIME_H
#define SHMEMI_CTX_RUNTIME_H

#include "runtime/state.h"

/* The default context: world team, no options. 0 or a negative errno, logged. */
int shmemi_ctx_init_default(void);

/* Is this a context that was made and not destroyed? For checked mode: walks the list. */
bool shmemi_ctx_is_alive(const struct shmemi_ctx *ctx);

/* Checked mode: ends the job where ctx is private to another thread. */
void shmemi_ctx_check_thread(const struct shmemi_ctx *ctx, const char *call);

/* Destroy the contexts of a team that is destroyed (those of other threads too: the program orders that). */
void shmemi_ctx_destroy_of_team(const struct shmemi_team *team);

/* Complete everything on every context: the last finalize. */
void shmemi_ctx_quiet_all(void);

/* Close and free all contexts, the default one too. Safe at any stage of start-up. */
void shmemi_ctx_finish_all(void);

#endif
