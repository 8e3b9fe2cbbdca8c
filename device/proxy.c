/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread per PE, from the first unit of device code to the last finalize. It takes what kernels have published, in batches; hands each to the
 * runtime without waiting; and, where somebody waits for a reply, completes the batch and replies. It calls no driver of a GPU: a kernel
 * may keep the GPU busy for as long as it waits for us.
 *
 * Nobody wakes it: a GPU cannot. So it looks often while there is work, and ever less often while there is none, up to a bound that is short
 * where a kernel may ask at any time, and long where all PEs are mapped and only a report could come.
 *
 * Three numbers tell how far it is: consumer.head, taken; `done`, completed and visible; and what kernels have published, which only the
 * slots tell. It completes whenever it runs out of work, so `done` follows by itself.
 * Design: docs/decisions/0018-ring-and-proxy.md.  Tests: tests/api/device/.
 */
#include "device/proxy.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/service.h"
#include "runtime/wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BATCH_MAX = 64 };
enum { SPIN_NS = 50000, NAP_NS_MIN = 20000, NAP_NS_MAX = 1000000, NAP_NS_MAX_MAPPED = 20000000, IDLE_PER_NAP = 8 };

static struct {
    pthread_t        thread;
    bool             running;
    _Atomic uint32_t ends; /* 1: come to an end; told by an ask */
    _Atomic uint32_t asks; /* quiets asked for; the thread naps on this word */
    _Atomic uint32_t answered;
    _Atomic uint64_t done[SHMEMD_SIDES]; /* tickets below are complete */
} proxy;

static _Thread_local bool is_proxy;

/* ---- work ---- */

struct batch {
    uint64_t ticket[BATCH_MAX];
    int      replies;
};

/* True if something was taken. */
static bool take_batch(struct shmemd_side *side, struct batch *batch)
{
    struct shmemd_descriptor d;
    uint64_t                 ticket;
    int                      taken = 0;
    batch->replies                 = 0;
    while (taken < BATCH_MAX && shmemd_consumer_take(&side->consumer, &d, &ticket)) {
        shmemd_perform(side, &d, &side->values[ticket & (side->consumer.slots - 1)]);
        if (d.op & SHMEMD_OP_REPLY) batch->ticket[batch->replies++] = ticket;
        taken++;
    }
    return taken > 0;
}

static void complete(void)
{
    uint64_t head[SHMEMD_SIDES];
    for (int i = 0; i < SHMEMD_SIDES; i++) head[i] = atomic_load_explicit(&shmemd_side_all[i].consumer.head, memory_order_relaxed);
    shmemd_perform_quiet();
    /* Release: a host thread that sees it sees what gets have brought. */
    for (int i = 0; i < SHMEMD_SIDES; i++) atomic_store_explicit(&proxy.done[i], head[i], memory_order_release);
}

static bool serve_side(struct shmemd_side *side)
{
    struct batch batch;
    if (!atomic_load_explicit(&side->live, memory_order_acquire)) return false;
    shmemd_report_look(side);
    bool moved = take_batch(side, &batch);
    if (batch.replies > 0) complete();
    for (int i = 0; i < batch.replies; i++)
        shmemd_consumer_reply(&side->consumer, batch.ticket[i], side->values[batch.ticket[i] & (side->consumer.slots - 1)]);
    shmemd_consumer_free(&side->consumer);
    return moved;
}

static bool serve(void)
{
    bool moved = false;
    for (int i = 0; i < SHMEMD_SIDES; i++)
        if (serve_side(&shmemd_side_all[i])) moved = true;
    return moved;
}

/* ---- quiets of the host ---- */

/* Kernels may publish without end. What was there when a quiet was asked for fits into the ring, so that much is done first, or all there is. */
struct goal {
    bool     open;
    uint32_t asks;
    uint64_t head[SHMEMD_SIDES];
};

static bool goal_reached(const struct goal *goal)
{
    for (int i = 0; i < SHMEMD_SIDES; i++)
        if (atomic_load_explicit(&shmemd_side_all[i].consumer.head, memory_order_relaxed) < goal->head[i]) return false;
    return true;
}

static void look_for_asks(struct goal *goal)
{
    /* Acquire: what the asking thread knows to be published is there for us too. */
    uint32_t asks = atomic_load_explicit(&proxy.asks, memory_order_acquire);
    if (goal->open || asks == atomic_load_explicit(&proxy.answered, memory_order_relaxed)) return;
    *goal = (struct goal){.open = true, .asks = asks};
    for (int i = 0; i < SHMEMD_SIDES; i++) {
        const struct shmemd_consumer *consumer = &shmemd_side_all[i].consumer;
        goal->head[i]                          = atomic_load_explicit(&consumer->head, memory_order_relaxed) + consumer->slots;
    }
}

static void answer(struct goal *goal)
{
    atomic_store_explicit(&proxy.answered, goal->asks, memory_order_release);
    goal->open = false;
    shmemi_wait_wake_own();
}

/*
 * Is there a ticket from this one on? Where kernels are CPU threads their counter tells, also of those that are not published yet. A GPU's counter lies
 * in its own memory, where we must not look; so the slots tell.
 */
static bool has_more(struct shmemd_side *side, uint64_t from)
{
    const struct shmemd_producers *producers = side->producers;
    if (side->kind == SHMEMD_SIDE_CPU)
        return atomic_load_explicit((const _Atomic uint64_t *)&producers->next, memory_order_acquire) > from;
    return shmemd_consumer_more(&side->consumer, from);
}

/* On any side: not taken, or, for a host thread, not done. */
static bool any_more(bool done)
{
    for (int i = 0; i < SHMEMD_SIDES; i++) {
        struct shmemd_side *side = &shmemd_side_all[i];
        if (!atomic_load_explicit(&side->live, memory_order_acquire)) continue;
        /* Acquire, of done: what the operations have brought. */
        uint64_t from = atomic_load_explicit(done ? &proxy.done[i] : &side->consumer.head, memory_order_acquire);
        if (has_more(side, from)) return true;
    }
    return false;
}

static bool answered(void *argument)
{
    uint32_t wanted = *(const uint32_t *)argument;
    return (int32_t)(atomic_load_explicit(&proxy.answered, memory_order_acquire) - wanted) >= 0;
}

static void wake(void)
{
    syscall(SYS_futex, (void *)&proxy.asks, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

void shmemd_proxy_quiet(void)
{
    if (is_proxy || !proxy.running || !any_more(true)) return;
    uint32_t                 mine        = atomic_fetch_add_explicit(&proxy.asks, 1, memory_order_acq_rel) + 1;
    const struct shmemi_wait description = {.call = "quiet (of what kernels have asked for)", .pe = -1};
    wake();
    shmemi_wait_for(&description, answered, &mine);
}

/* ---- the thread ---- */

static int64_t nap_limit(void)
{
    for (int i = 0; i < SHMEMD_SIDES; i++) {
        const struct shmemd_side *side = &shmemd_side_all[i];
        if (atomic_load_explicit(&side->live, memory_order_acquire) && (side->state.flags & SHMEMD_FLAG_RING)) return NAP_NS_MAX;
    }
    return NAP_NS_MAX_MAPPED;
}

/* Longer the longer nothing came, so that an idle PE costs little and a busy one answers soon. */
static void nap(int64_t idle_ns)
{
    int64_t limit_ns = nap_limit(), ns = idle_ns / IDLE_PER_NAP;
    if (ns < NAP_NS_MIN) ns = NAP_NS_MIN;
    if (ns > limit_ns) ns = limit_ns;
    struct timespec limit = {.tv_nsec = ns};
    /* Not if somebody has asked since: the word is then another one. */
    syscall(SYS_futex, (void *)&proxy.asks, FUTEX_WAIT_PRIVATE, atomic_load_explicit(&proxy.answered, memory_order_relaxed), &limit,
            NULL, 0);
}

/* One turn. Completes where that is owed: when work has run out, or a quiet has got all that it may ask for. True if something was taken. */
static bool turn(struct goal *goal, bool *dirty)
{
    look_for_asks(goal);
    bool moved = serve();
    if (moved) *dirty = true;
    bool owed = goal->open ? goal_reached(goal) || !any_more(false) : *dirty && !moved;
    if (!owed) return moved || goal->open;
    complete();
    *dirty = false;
    if (goal->open) answer(goal);
    return moved;
}

static void *run(void *unused)
{
    struct goal goal    = {.open = false};
    bool        dirty   = false;
    int64_t     spin_ns = shmemi_state.crowded ? 0 : SPIN_NS, since_ns = shmemi_now_ns();
    (void)unused;
    is_proxy = true;
    for (;;) {
        /* Acquire, and before the look at the rings: who ends us knows that all is published. */
        bool ends = atomic_load_explicit(&proxy.ends, memory_order_acquire) != 0;
        if (turn(&goal, &dirty)) {
            since_ns = 0;
            continue;
        }
        if (ends) break;
        int64_t now_ns = shmemi_now_ns();
        if (since_ns == 0) since_ns = now_ns;
        if (now_ns - since_ns >= spin_ns) nap(now_ns - since_ns);
    }
    shmemd_perform_finish();
    return NULL;
}

int shmemd_proxy_start(void)
{
    if (proxy.running) return 0;
    memset(&proxy, 0, sizeof proxy);
    int err = shmemi_service_thread(&proxy.thread, run, NULL);
    if (err) {
        shmemi_error("could not start the thread that serves kernels: %s" WHY
                     "the limit of processes or of memory of this user is reached" FIX "raise `ulimit -u`, or start fewer PEs",
                     strerror(err));
        return -err;
    }
    proxy.running = true;
    return 0;
}

void shmemd_proxy_stop(void)
{
    if (!proxy.running) return;
    atomic_store_explicit(&proxy.ends, 1, memory_order_release);
    atomic_fetch_add_explicit(&proxy.asks, 1, memory_order_acq_rel);
    wake();
    pthread_join(proxy.thread, NULL);
    proxy.running = false;
}

bool shmemd_proxy_is_me(void)
{
    return is_proxy;
}
