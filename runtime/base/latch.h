/* SPDX-License-Identifier: Apache-2.0
 *
 * A latch: a lock of one word for what every operation takes: inlined, one atomic instruction to take it and a plain store to give it back. All zero
 * is free; nothing to destroy.
 *
 * Nobody is woken. Who finds it taken looks again for a moment, then gives the core away (the holder may wait for it), then sleeps in short naps. So it is
 * for what is held for a few instructions, now and then for a system call, never while waiting. A mutex of the C library wakes, and pays for that
 * each time: 31 instructions and a second atomic one.
 *
 * Only this header, so that transports outside of the library have it too.  Tests: tests/unit/latch_keeps_threads_apart.c.
 */
#ifndef SHMEMI_LATCH_H
#define SHMEMI_LATCH_H

#include "runtime/base/attr.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

struct shmemi_latch {
    _Atomic bool taken;
};

/* Acquire: what the last holder did is seen; pairs with the release in shmemi_latch_give(). */
SHMEMI_INLINE bool shmemi_latch_try(struct shmemi_latch *latch)
{
    return !atomic_exchange_explicit(&latch->taken, true, memory_order_acquire);
}

static SHMEMI_COLD __attribute__((unused)) void shmemi_latch_wait(struct shmemi_latch *latch)
{
    enum { SPINS = 64, YIELDS = 32, NAP_NS = 50000 };
    for (unsigned turn = 0;; turn++) {
        /* Reads until it seems free: an exchange takes the line away from the holder, who needs it to give back. */
        if (!atomic_load_explicit(&latch->taken, memory_order_relaxed) && shmemi_latch_try(latch)) return;
        if (turn < SPINS) continue;
        if (turn < SPINS + YIELDS) sched_yield();
        else nanosleep(&(const struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
}

SHMEMI_INLINE void shmemi_latch_take(struct shmemi_latch *latch)
{
    if (SHMEMI_UNLIKELY(!shmemi_latch_try(latch))) shmemi_latch_wait(latch);
}

SHMEMI_INLINE void shmemi_latch_give(struct shmemi_latch *latch)
{
    atomic_store_explicit(&latch->taken, false, memory_order_release);
}

#endif
