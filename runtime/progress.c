/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread per PE, in a PE whose transport moves only while somebody calls its progress(). It sleeps in poll() on the transports' own
 * descriptors, so an idle PE costs nothing; while the program's threads call progress() themselves it stays out of their way and
 * looks again a millisecond later, or as soon as one of them goes to sleep. So a PE that computes delays others by a few milliseconds at most, one that waits not at all.
 *
 * Who sleeps in a wait for memory is woken by the transport when it has stored there, who waits for the end of an operation by this thread whenever
 * something has moved. While a thread of the program sleeps its core is free, and one message is often followed by more: so then this thread looks for the
 * next one for as long as a wait would spin before it sleeps too.
 * Design: docs/architecture.md "Progress".  Tests: tests/transport/, tests/cluster/.
 */
#include "runtime/progress.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/report.h"
#include "runtime/progress_place.h"
#include "runtime/service.h"
#include "runtime/wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 1, IDLE_MS = 1000 };

static struct {
    pthread_t          thread;
    bool               running;
    int                stop_fd; /* readable: end */
    atomic_bool        ends;    /* the same, for who does not come to poll */
    size_t             count;
    struct shmemt_ctx *ctx[SHMEMI_TRANSPORTS_MAX];
} service = {.stop_fd = -1};

/* How often the program's threads have called progress(): only its change counts. Relaxed: nothing is read because of it. */
static _Atomic uint32_t calls;

int shmemi_progress_call(struct shmemt_ctx *ctx)
{
    int moved = ctx->tp->ops->progress(ctx);
    atomic_store_explicit(&calls, atomic_load_explicit(&calls, memory_order_relaxed) + 1, memory_order_relaxed);
    if (moved > 0) shmemi_wait_wake_own();
    return moved;
}

/* The thread naps: a futex word, and a flag for who wants it back at work. */
static _Atomic uint32_t napping;

static void nap(void)
{
    struct timespec limit = {.tv_nsec = NAP_MS * 1000000L};
    atomic_store_explicit(&napping, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst); /* pairs with that of a sleeper: either it sees us nap, or we see it asleep */
    if (atomic_load_explicit(&shmemi_state.ctrl->asleep, memory_order_relaxed) == 0)
        syscall(SYS_futex, (void *)&napping, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
    atomic_store_explicit(&napping, 0, memory_order_relaxed);
}

void shmemi_progress_take_over(void)
{
    if (atomic_load_explicit(&napping, memory_order_relaxed) == 0 ||
        atomic_exchange_explicit(&napping, 0, memory_order_relaxed) == 0)
        return;
    syscall(SYS_futex, (void *)&napping, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A thread of the program has been at it since the last look, and has not gone to sleep. */
static bool others_do_it(uint32_t *seen)
{
    uint32_t now  = atomic_load_explicit(&calls, memory_order_relaxed);
    bool     they = now != *seen && atomic_load_explicit(&shmemi_state.ctrl->asleep, memory_order_relaxed) == 0;
    *seen         = now;
    return they;
}

/* True if something moved. */
static bool move_on(void)
{
    bool moved = false;
    for (size_t i = 0; i < service.count; i++)
        if (service.ctx[i]->tp->ops->progress(service.ctx[i]) > 0) moved = true;
    if (moved) shmemi_wait_wake_own();
    return moved;
}

/* Sleep until a transport has work. False: the end. */
static bool sleep_in_poll(void)
{
    int           timeout_ms                     = IDLE_MS;
    struct pollfd fds[SHMEMI_TRANSPORTS_MAX + 1] = {{.fd = service.stop_fd, .events = POLLIN}};
    nfds_t        count                          = 1;
    for (size_t i = 0; i < service.count; i++) {
        int fd = service.ctx[i]->tp->ops->arm(service.ctx[i]);
        if (fd >= 0) fds[count++] = (struct pollfd){.fd = fd, .events = POLLIN};
        else timeout_ms = NAP_MS;
    }
    if (move_on()) return true; /* what came before it was armed */
    return poll(fds, count, timeout_ms) <= 0 || !(fds[0].revents & POLLIN);
}

/* For a while, if there is a core for it. True if something moved. */
static bool look_for_more(void)
{
    enum { CLOCK_EVERY = 8, LOOK_NS_MAX = 50000 }; /* far less than a wait spins, which has the core for it */
    int64_t end_ns = shmemi_now_ns() + (shmemi_state.spin_ns < LOOK_NS_MAX ? shmemi_state.spin_ns : LOOK_NS_MAX);
    do {
        for (int i = 0; i < CLOCK_EVERY; i++)
            if (move_on()) return true;
    } while (atomic_load_explicit(&shmemi_state.ctrl->asleep, memory_order_relaxed) != 0 && shmemi_now_ns() < end_ns);
    return false;
}

static void *serve(void *unused)
{
    uint32_t seen   = 0;
    bool     lately = false; /* something has moved since the last sleep */
    (void)unused;
    shmemi_progress_place_go();
    for (bool go_on = true; go_on && !atomic_load_explicit(&service.ends, memory_order_relaxed);) {
        if (others_do_it(&seen)) {
            nap();
        } else if (move_on() || (lately && look_for_more())) {
            lately = true;
        } else {
            lately = false;
            go_on  = sleep_in_poll();
        }
    }
    return NULL;
}

/* ---- start and stop ---- */

static bool in_use(size_t transport)
{
    for (int pe = 0; pe < shmemi_state.npes; pe++)
        if (shmemi_state_posts(pe, (int)transport)) return true;
    return false;
}

static int open_contexts(bool *all_tell_out)
{
    *all_tell_out = true;
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        struct shmemt *tp = shmemi_state.transports[i];
        if (!in_use(i)) continue;
        bool needs = !(tp->traits.caps & SHMEMT_CAP_PROGRESS);
        if (!needs || shmemi_options.progress == SHMEMI_ON_NO) { /* nobody sees its stores arrive */
            *all_tell_out = false;
            continue;
        }
        int err = tp->ops->ctx_open(tp, SHMEMT_CTX_SERVICE, &service.ctx[service.count]);
        if (err) return err;
        if (tp->ops->arm(service.ctx[service.count]) == -1 || tp->traits.silent) *all_tell_out = false;
        service.count++;
    }
    return 0;
}

int shmemi_progress_report(bool needs)
{
    char where[320];
    int  err = shmemi_progress_place_choose();
    if (err) return err;
    shmemi_progress_place_describe(where, sizeof where);
    if (!needs) shmemi_report("progress", SHMEMI_PRESENT, "by the device, or by stores: needs no thread");
    else if (shmemi_options.progress != SHMEMI_ON_NO)
        shmemi_report("progress", SHMEMI_PRESENT, "a thread serves other PEs while this one computes%s", where);
    else
        shmemi_report("progress", SHMEMI_DEGRADED,
                      "only inside calls of the library (POSTERN_PROGRESS=0): a PE that computes delays others");
    return 0;
}

int shmemi_progress_start(void)
{
    bool all_tell               = true;
    shmemi_state.silent_writers = shmemi_state.posted;
    if (!shmemi_state.posted) return 0;
    int err = open_contexts(&all_tell);
    if (!err && service.count > 0) {
        service.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        err             = service.stop_fd < 0 ? -errno : -shmemi_service_thread(&service.thread, serve, NULL);
        service.running = !err;
    }
    if (err) {
        shmemi_error("could not start the thread that serves other PEs: %s" WHY
                     "a limit of threads, descriptors or memory is reached" FIX
                     "raise `ulimit -u` and `ulimit -n`, or set POSTERN_PROGRESS=0",
                     strerror(-err));
        return err;
    }
    shmemi_state.silent_writers = !all_tell;
    return 0;
}

void shmemi_progress_stop(void)
{
    uint64_t one = 1;
    if (service.running) {
        atomic_store_explicit(&service.ends, true, memory_order_relaxed);
        if (write(service.stop_fd, &one, sizeof one) < 0) shmemi_debug("the progress thread cannot be told to end");
        pthread_join(service.thread, NULL);
    }
    for (size_t i = 0; i < service.count; i++) service.ctx[i]->tp->ops->ctx_close(service.ctx[i]);
    if (service.stop_fd >= 0) close(service.stop_fd);
    memset(&service, 0, sizeof service);
    service.stop_fd = -1;
}
