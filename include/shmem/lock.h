/* SPDX-License-Identifier: Apache-2.0
 *
 * Distributed locks.  lock is a symmetric long, static or on the heap, that is 0 on all PEs before its
 * first use and from then on belongs to these calls.  Not re-entrant, not even for another thread.
 * Spec: OpenSHMEM 1.6 §9.13.
 */
#ifndef SHMEMI_LOCK_H
#define SHMEMI_LOCK_H

#include "constants.h"
#include "types.h"

SHMEMI_BEGIN

/*
 * Take the lock, waiting in the order of asking; or try: 0 where it is ours now, 1 where it is
 * held.  Who gets it can read what the last holder wrote.  clear first completes the operations
 * of the default context (quiet), then hands the lock on.  Spec: §9.13.1.
 */
SHMEMI_DECLARE(void, shmem_set_lock, (long *lock))
SHMEMI_DECLARE(int, shmem_test_lock, (long *lock))
SHMEMI_DECLARE(void, shmem_clear_lock, (long *lock))

SHMEMI_END

#endif
