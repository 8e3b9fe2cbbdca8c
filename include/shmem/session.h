/* SPDX-License-Identifier: Apache-2.0
 *
 * Sessions: hints on what a program is about to do on a context.  They change no result, order or completion.
 * Spec: OpenSHMEM 1.6 §9.9.
 */
#ifndef SHMEMI_SESSION_H
#define SHMEMI_SESSION_H

#include "constants.h"
#include "types.h"

/* clang-format off */

/* The argument list that is longer than a line. */
#define SHMEMI_SESSION_START_ARGS \
    shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config, long config_mask

/* clang-format on */

SHMEMI_BEGIN

/*
 * Begin a session on ctx, or add to the one that is there: options are joined, the fields of config replace those
 * of before.
 *
 * ctx      any context; SHMEM_CTX_INVALID does nothing
 * options  SHMEM_CTX_SESSION_BATCH, or 0
 * config   read only where config_mask (SHMEM_CTX_SESSION_TOTAL_OPS) selects a field; may be NULL where the mask is 0
 *
 * Spec: §9.9.2.
 */
SHMEMI_DECLARE(void, shmem_ctx_session_start, (SHMEMI_SESSION_START_ARGS))

/* End the session on ctx, if there is one.  Completes nothing: that takes a quiet.  Spec: §9.9.3. */
SHMEMI_DECLARE(void, shmem_ctx_session_stop, (shmem_ctx_t ctx))

SHMEMI_END

#endif
