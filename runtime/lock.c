/* SPDX-License-Identifier: Apache-2.0
 *
 * Locks: a queue of waiters in the lock words themselves, so that they are granted in order of arrival, each waiter watches
 * its own word only, and a PE may hold or wait for any number of locks.
 *
 * The long of each PE is two 32-bit halves:
 *   tail   on the lock's home PE: number + 1 of the last in the queue, 0 if free
 *   mine   on every PE: bit 0 "I wait"; bit 1 "I hold it", in checked mode only; above them, number + 1 of the PE behind me
 *
 * set:   swap myself into tail. Nobody there: I hold it. Else raise my wait bit, write myself behind that PE, wait for the bit to fall.
 * clear: nobody behind me and tail is still me: make it 0. Else wait until the PE behind me has written itself, and lower its bit.
 *
 * The halves are written by different atomics and are never used at another width, so NIC and CPU agents can both serve them.
 * Spec: OpenSHMEM 1.6 §9.13 Distributed Locking Routines.  Tests: tests/api/lock/, tests/stress/lock.c.
 */
#include "runtime/order.h"
#include "runtime/gpu/gpu.h"
#include "runtime/post.h"
#include "runtime/route.h"
#include "runtime/service.h"
#include "runtime/wait.h"
#include "transports/mapped.h"

#include <assert.h>
#include <sched.h>
#include <shmem.h>

static_assert(sizeof(long) == 8, "a lock needs two 32-bit halves");

enum { WAIT_BIT = 1, HELD_BIT = 2, NEXT_SHIFT = 2 };

static char *tail_half(long *lock)
{
    return (char *)lock;
}

static char *mine_half(long *lock)
{
    return (char *)lock + 4;
}

/* Any PE would do; spread by address, so that many locks do not all live on one. */
static int home_of(const char *call, const long *lock)
{
    int      segment;
    uint64_t offset;
    if (SHMEMI_UNLIKELY(shmemi_state.gpu) && shmemi_gpu_is_heap(lock)) shmemi_gpu_refuse(call, "a lock", lock);
    if (!shmemi_route_segment(lock, &segment, &offset)) {
        struct shmemi_place unused; /* the careful path has the message */
        shmemi_route_find(&shmemi_state.ctx_default, call, lock, sizeof *lock, shmemi_state.my_pe, &unused);
    }
    if (SHMEMI_UNLIKELY((uintptr_t)lock % sizeof *lock != 0))
        shmemi_service_fatal(call, "lock at %p is not a multiple of %zu" WHY "it is a long" FIX "look at how the address is made",
                             (const void *)lock, sizeof *lock);
    return (int)(offset / sizeof *lock % (uint64_t)shmemi_state.npes);
}

/* A 32-bit atomic on a half at a PE; the old value. */
static uint32_t half_amo(const char *call, const char *half, int pe, enum shmemt_amo_op op, uint32_t value, uint32_t compare)
{
    struct shmemi_place at;
    uint32_t            old = 0;
    shmemi_route_find(&shmemi_state.ctx_default, call, half, 4, pe, &at);
    shmemi_route_by_agent(&at);
    const struct shmemt_amo amo = {.op = op, .bytes = 4, .value = value, .compare = compare, .fetch = &old};
    if (!at.mapped) {
        shmemi_post_amo(&shmemi_state.ctx_default, &at, &amo, SHMEMI_POST_LOCAL);
        return old;
    }
    old = (uint32_t)shmemt_mapped_amo(at.mapped, &amo);
    shmemi_wait_stored((int)at.local, at.mapped, 4);
    return old;
}

struct half_wait {
    const char *half;
    bool        lowered; /* the wait bit has fallen, else: somebody is behind me */
};

static uint32_t own_half(const char *half)
{
    /* Acquire: the previous holder's updates are readable once its hand-over is seen. */
    return __atomic_load_n((const uint32_t *)(const void *)half, __ATOMIC_ACQUIRE);
}

static bool half_ready(void *argument)
{
    const struct half_wait *wait = argument;
    uint32_t                seen = own_half(wait->half);
    return wait->lowered ? !(seen & WAIT_BIT) : seen >> NEXT_SHIFT != 0;
}

static void wait_half(const char *call, const char *half, bool lowered, int pe)
{
    struct half_wait         wait        = {.half = half, .lowered = lowered};
    const struct shmemi_wait description = {.call = call, .address = half, .bytes = 4, .pe = pe};
    shmemi_wait_for(&description, half_ready, &wait);
}

/* ---- misuse ---- */

static SHMEMI_COLD void held_already(const char *call, const long *lock)
{
    char text[80];
    shmemi_service_fatal(call,
                         "this PE has the lock at %s already" WHY
                         "locks are not re-entrant, also not for another thread of the PE, so the call would wait for itself" FIX
                         "clear the lock first; threads of one PE exclude each other by a mutex of their own",
                         shmemi_route_describe(lock, text, sizeof text));
}

static SHMEMI_COLD void waited_for_already(const char *call, const long *lock)
{
    char text[80];
    shmemi_service_fatal(call,
                         "another thread of this PE waits for the lock at %s" WHY
                         "a lock has one place in its queue for each PE, not for each thread" FIX
                         "let threads of one PE exclude each other by a mutex of their own",
                         shmemi_route_describe(lock, text, sizeof text));
}

static SHMEMI_COLD void not_held(const char *call, const long *lock, uint32_t tail)
{
    char text[80];
    if (tail == 0)
        shmemi_service_fatal(call, "the lock is not held" WHY "no PE holds it or waits for it" FIX
                                   "clear a lock once for each time it was set");
    shmemi_service_fatal(call,
                         "this PE does not hold the lock at %s" WHY "the last to take it or to queue for it is PE %d" FIX
                         "clear a lock on the PE that set it",
                         shmemi_route_describe(lock, text, sizeof text), (int)tail - 1);
}

/* Checked mode, before set and test. */
static SHMEMI_COLD void check_not_mine(const char *call, long *lock)
{
    uint32_t mine = own_half(mine_half(lock));
    if (mine & HELD_BIT) held_already(call, lock);
    if (mine & WAIT_BIT) waited_for_already(call, lock);
}

/* Checked mode, after. A PE behind us may write itself into the same half meanwhile: hence an atomic. */
static SHMEMI_COLD void mark_held(const char *call, long *lock)
{
    half_amo(call, mine_half(lock), shmemi_state.my_pe, SHMEMT_AMO_OR, HELD_BIT, 0);
}

/* Checked mode, before clear. */
static SHMEMI_COLD void check_mine(const char *call, long *lock, int home)
{
    if (own_half(mine_half(lock)) & HELD_BIT)
        half_amo(call, mine_half(lock), shmemi_state.my_pe, SHMEMT_AMO_AND, ~(uint32_t)HELD_BIT, 0);
    else not_held(call, lock, half_amo(call, tail_half(lock), home, SHMEMT_AMO_FETCH, 0, 0));
}

/* ---- the calls ---- */

void pshmem_set_lock(long *lock)
{
    const char     call[] = "shmem_set_lock";
    int            me = shmemi_state.my_pe, home = home_of(call, lock);
    const uint32_t self = (uint32_t)me + 1;
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_not_mine(call, lock);

    /* Raised before the PE ahead can know of us, so that its hand-over cannot be missed. The bit falls only by that hand-over. */
    half_amo(call, mine_half(lock), me, SHMEMT_AMO_SET, WAIT_BIT, 0);
    uint32_t ahead = half_amo(call, tail_half(lock), home, SHMEMT_AMO_SET, self, 0);
    if (SHMEMI_UNLIKELY(ahead == self)) held_already(call, lock); /* nobody could end the wait that would follow */
    if (ahead == 0) {
        half_amo(call, mine_half(lock), me, SHMEMT_AMO_AND, ~(uint32_t)WAIT_BIT, 0); /* a PE may already be behind us */
    } else {
        half_amo(call, mine_half(lock), (int)ahead - 1, SHMEMT_AMO_ADD, self << NEXT_SHIFT, 0);
        wait_half("shmem_set_lock", mine_half(lock), true, (int)ahead - 1);
    }
    if (SHMEMI_UNLIKELY(shmemi_state.check)) mark_held(call, lock);
    atomic_thread_fence(memory_order_acquire);
}
SHMEMI_EXPORT(shmem_set_lock)

void pshmem_clear_lock(long *lock)
{
    const char call[] = "shmem_clear_lock";
    int        me = shmemi_state.my_pe, home = home_of(call, lock);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_mine(call, lock, home);
    shmemi_order_quiet(&shmemi_state.ctx_default); /* what was done under the lock is complete before it is given on */

    uint32_t self = (uint32_t)me + 1;
    if (own_half(mine_half(lock)) >> NEXT_SHIFT == 0) {
        uint32_t tail = half_amo(call, tail_half(lock), home, SHMEMT_AMO_CSWAP, 0, self);
        if (tail == self) return;
        if (tail == 0) not_held(call, lock, tail);
        wait_half("shmem_clear_lock", mine_half(lock), false, -1); /* somebody is on the way to write itself behind us */
    }
    int behind = (int)(own_half(mine_half(lock)) >> NEXT_SHIFT) - 1;
    half_amo(call, mine_half(lock), me, SHMEMT_AMO_SET, 0, 0);
    half_amo(call, mine_half(lock), behind, SHMEMT_AMO_AND, ~(uint32_t)WAIT_BIT, 0);
}
SHMEMI_EXPORT(shmem_clear_lock)

int pshmem_test_lock(long *lock)
{
    const char call[] = "shmem_test_lock";
    int        me = shmemi_state.my_pe, home = home_of(call, lock);
    if (SHMEMI_UNLIKELY(shmemi_state.check)) check_not_mine(call, lock);
    if (half_amo(call, tail_half(lock), home, SHMEMT_AMO_CSWAP, (uint32_t)me + 1, 0) != 0) {
        /* One step of somebody's loop: move traffic on, and leave the core to the holder. */
        if (shmemi_state.posted) shmemi_post_progress();
        if (shmemi_state.crowded) sched_yield();
        return 1;
    }
    if (SHMEMI_UNLIKELY(shmemi_state.check)) mark_held(call, lock);
    atomic_thread_fence(memory_order_acquire);
    return 0;
}
SHMEMI_EXPORT(shmem_test_lock)
