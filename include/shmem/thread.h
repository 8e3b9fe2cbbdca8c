/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread support.
 * Spec: OpenSHMEM 1.6 §9.2.
 */
#ifndef SHMEMI_THREAD_H
#define SHMEMI_THREAD_H

#include "constants.h"
#include "types.h"

SHMEMI_BEGIN

/*
 * As shmem_init, with a wish for a thread level.
 *
 * requested  one of SHMEM_THREAD_*
 * provided   the level there is; a nested call cannot change it
 *
 * Returns 0, or nonzero where OpenSHMEM could not start; then nothing else may be called.
 * Spec: §9.2.1.
 */
SHMEMI_DECLARE(int, shmem_init_thread, (int requested, int *provided))

/* The thread level there is.  Spec: §9.2.2. */
SHMEMI_DECLARE(void, shmem_query_thread, (int *provided))

SHMEMI_END

#endif
