/* SPDX-License-Identifier: Apache-2.0
 *
 * Contexts: independent streams of operations, each with its own order (fence) and completion
 * (quiet).  A context belongs to one team, and PE numbers of calls on it count in that team.
 * Spec: OpenSHMEM 1.6 §9.5.
 */
#ifndef SHMEMI_CTX_H
#define SHMEMI_CTX_H

#include "constants.h"
#include "types.h"

SHMEMI_BEGIN

/*
 * Create a context on the world team, or on team.  Local: no other PE takes part.
 *
 * options  SHMEM_CTX_SERIALIZED, _PRIVATE, _NOSTORE joined by |, or 0
 * ctx      the new context, owned by the caller; SHMEM_CTX_INVALID on failure
 *
 * Returns 0, or nonzero where it could not be made; the program may go on and try again.
 * Spec: §9.5.1, §9.5.2.
 */
SHMEMI_DECLARE(int, shmem_ctx_create, (long options, shmem_ctx_t *ctx))
SHMEMI_DECLARE(int, shmem_team_create_ctx, (shmem_team_t team, long options, shmem_ctx_t *ctx))

/* Complete the operations of ctx and release it; SHMEM_CTX_INVALID does nothing.  Spec: §9.5.3. */
SHMEMI_DECLARE(void, shmem_ctx_destroy, (shmem_ctx_t ctx))

/*
 * The team of ctx.  Returns 0; for SHMEM_CTX_INVALID returns nonzero and *team becomes
 * SHMEM_TEAM_INVALID.  Spec: §9.5.4.
 */
SHMEMI_DECLARE(int, shmem_ctx_get_team, (shmem_ctx_t ctx, shmem_team_t *team))

SHMEMI_END

#endif
