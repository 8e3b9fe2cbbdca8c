/* SPDX-License-Identifier: Apache-2.0
 *
 * Control of profiling.  Every function has a twin with p in front (pshmem_long_put), and the plain name
 * is a weak alias of it: a tool defines shmem_long_put itself and calls pshmem_long_put inside.
 * Spec: OpenSHMEM 1.6 §10.
 */
#ifndef SHMEMI_PROFILING_H
#define SHMEMI_PROFILING_H

#include "constants.h"
#include "types.h"

SHMEMI_BEGIN

/*
 * Does nothing; a tool may define it.  level: 0 or less is off, 1 the default, 2 flushes, more is for
 * the tool to say, with the arguments it asks for.  Spec: §10.1.1.
 */
SHMEMI_DECLARE(void, shmem_pcontrol, (int level, ...))

SHMEMI_END

#endif
