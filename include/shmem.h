/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenSHMEM 1.6 by Postern: one header for each subject of the standard.
 *
 * Holds what the standard defines, and private names with the prefix SHMEMI_ or shmemi_.  Extensions are
 * in shmemx.h; the profiling twins alone are in pshmem.h.  C99, C11 (with the generic calls), C17 and
 * C++11 or later.
 * Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance
 */
#ifndef SHMEMI_SHMEM_H
#define SHMEMI_SHMEM_H

#include "shmem/types.h"
#include "shmem/constants.h"
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

#endif
