/* SPDX-License-Identifier: Apache-2.0
 *
 * The profiling interface: types, constants and the pshmem_ functions, and nothing else, so that a tool
 * can define shmem_ names of its own.  May be used with or without shmem.h, in any order.
 * Spec: OpenSHMEM 1.6 §10.
 */
#ifndef SHMEMI_PSHMEM_H
#define SHMEMI_PSHMEM_H

#include "shmem/constants.h"
#include "shmem/types.h"

/* What shmem.h has declared it has declared with its twins. */
#ifndef SHMEMI_SHMEM_H

#define SHMEMI_TWINS_ONLY
#undef SHMEMI_DECLARE
#define SHMEMI_DECLARE SHMEMI_DECLARE_TWIN

#include "shmem/setup.h"
#include "shmem/thread.h"
#include "shmem/memory.h"
#include "shmem/teams.h"
#include "shmem/ctx.h"
#include "shmem/rma.h"
#include "shmem/amo.h"
#include "shmem/signal.h"
#include "shmem/session.h"
#include "shmem/coll.h"
#include "shmem/reduce.h"
#include "shmem/active_set.h"
#include "shmem/p2p.h"
#include "shmem/order.h"
#include "shmem/lock.h"
#include "shmem/profiling.h"
#include "shmem/deprecated.h"

#undef SHMEMI_DECLARE
#define SHMEMI_DECLARE SHMEMI_DECLARE_BOTH
#undef SHMEMI_TWINS_ONLY

/* Open the guards again, for an #include of shmem.h that follows. */
#undef SHMEMI_SETUP_H
#undef SHMEMI_THREAD_H
#undef SHMEMI_MEMORY_H
#undef SHMEMI_TEAMS_H
#undef SHMEMI_CTX_H
#undef SHMEMI_RMA_H
#undef SHMEMI_AMO_H
#undef SHMEMI_SIGNAL_H
#undef SHMEMI_SESSION_H
#undef SHMEMI_COLL_H
#undef SHMEMI_REDUCE_H
#undef SHMEMI_ACTIVE_SET_H
#undef SHMEMI_P2P_H
#undef SHMEMI_ORDER_H
#undef SHMEMI_LOCK_H
#undef SHMEMI_PROFILING_H
#undef SHMEMI_DEPRECATED_H

#endif

#endif
