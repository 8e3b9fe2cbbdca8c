/* SPDX-License-Identifier: Apache-2.0
 *
 * Ending a job. exit() is called from the listening thread while other threads may sit in a barrier or compute: that is what
 * lets a PE end at once with its buffers written. Only one thread may run exit(), hence the claim.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit.  Design: docs/architecture.md "How a job ends".
 */
#include "runtime/service.h"

#include "runtime/base/log.h"
#include "runtime/device.h"
#include "runtime/init.h"
#include "runtime/state.h"
#include "runtime/wait.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_t   listener;
static bool        listening;
static sem_t       listener_runs;
static atomic_bool ending;    /* claimed by one thread                          */
static atomic_bool reporting; /* the listening thread reads symmetric memory */

static _Atomic(pthread_t) ender;
static atomic_bool        ender_known;

/* A thread that is in exit() already and waits in a handler of ours: it, and no other, can go on with exit(). */
static pthread_t   leaver;
static atomic_bool leaver_waits;
static sem_t       leaver_goes_on;
static atomic_bool leaver_ends; /* with leaver_status, since the job ends */
static int         leaver_status;

static atomic_bool goodbyes;   /* peers may close: all have met for the last time */
static atomic_bool lost_known; /* one thread is busy with a lost peer              */

bool shmemi_service_ends_here(void)
{
    return atomic_load_explicit(&ender_known, memory_order_acquire) &&
           pthread_equal(atomic_load_explicit(&ender, memory_order_relaxed), pthread_self());
}

/*
 * The first thread to ask for the end gets it; others stay here until the process is gone. The same thread may come again from an exit
 * handler of the program: the C library then goes on with the handlers that are left, and flushes.
 */
static void claim_end(int status)
{
    if (!atomic_exchange(&ending, true)) {
        shmemi_device_abort(-1);
        atomic_store_explicit(&ender, pthread_self(), memory_order_relaxed);
        atomic_store_explicit(&ender_known, true, memory_order_release);
        return;
    }
    if (shmemi_service_ends_here()) exit(status);
    for (;;) pause();
}

/* The thread that has claimed the end: exit(), or let the thread go on that is in exit() already. */
static SHMEMI_NORETURN void exit_once(int status)
{
    if (!atomic_load(&leaver_waits)) exit(status); /* pairs with shmemi_service_at_exit */
    leaver_status = status;
    atomic_store_explicit(&ender, leaver, memory_order_relaxed);
    atomic_store(&leaver_ends, true);
    sem_post(&leaver_goes_on);
    for (;;) pause();
}

static void *listen_to_launcher(void *argument)
{
    struct shmemb      *boot = argument;
    struct shmemb_event event;
    sem_post(&listener_runs);
    boot->ops->next_event(boot, &event);
    if (event.kind == SHMEMB_EVENT_NONE) return NULL;
    if (event.kind == SHMEMB_EVENT_FAILURE) {
        atomic_store(&reporting, true);
        if (shmemi_state_running()) shmemi_wait_report(STDERR_FILENO);
        atomic_store(&reporting, false);
        if (event.text[0]) shmemi_info("the job ends: %s", event.text);
    }
    claim_end(event.status);
    exit_once(event.status);
}

/* Its stack has the usual size: exit() may run the program's handlers on it, and its thread-local data lie there. */
int shmemi_service_thread(pthread_t *thread_out, void *(*run)(void *), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(thread_out, NULL, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

int shmemi_service_start(void)
{
    atomic_store(&goodbyes, false); /* of an earlier job of this process */
    if (shmemi_state.boot->npes == 1 && shmemi_state.boot->ops == &shmemb_self_ops) return 0;

    int err = sem_init(&listener_runs, 0, 0) ? errno : 0;
    if (!err) err = shmemi_service_thread(&listener, listen_to_launcher, shmemi_state.boot);
    if (err) {
        shmemi_error("could not start the thread that listens to the launcher: %s" WHY
                     "the limit of processes or of memory of this user is reached" FIX "raise `ulimit -u`, or start fewer PEs",
                     strerror(err));
        return -err;
    }
    listening = true;
    return 0;
}

/*
 * The start of a thread allocates memory: not in glibc, whose locks survive a fork, but in other allocators and in sanitizers, whose locks do
 * not. A program that forks right after shmem_init would leave its child with a lock that nobody holds and nobody will release. Later the
 * thread only sleeps in poll, so from here on a program of one thread may fork as if it had one.
 */
void shmemi_service_await_listener(void)
{
    if (!listening) return;
    while (sem_wait(&listener_runs) != 0) {
        assert(errno == EINTR);
    }
}

void shmemi_service_before_unmap(void)
{
    while (atomic_load(&reporting)) sched_yield();
}

void shmemi_service_stop(void)
{
    if (!listening) return;
    pthread_join(listener, NULL); /* boot->ops->close() has woken it */
    sem_destroy(&listener_runs);
    listening = false;
}

void shmemi_service_end(int status)
{
    claim_end(status);
    struct shmemb *boot = shmemi_state.boot;
    if (boot && getpid() == shmemi_state.pid) boot->ops->abort(boot, status, NULL);
    exit_once(status);
}

/* ---- lost peers ---- */

enum { GRACE_MS = 1000, GRACE_STEP_MS = 20, GRACE_STEPS_MAX = 50 };

void shmemi_service_expect_goodbyes(void)
{
    atomic_store(&goodbyes, true);
}

/*
 * Many PEs lose a dead peer at the same time. The launcher knows best why, so it comes first; then the PEs one by one, so that the first ends the
 * others before they say it too.
 */
void shmemi_service_give_launcher_time(void)
{
    int             steps = shmemi_state.my_pe < GRACE_STEPS_MAX ? shmemi_state.my_pe : GRACE_STEPS_MAX;
    int             ms    = GRACE_MS + GRACE_STEP_MS * steps;
    struct timespec left  = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

void shmemi_service_lost(int pe, int error, const char *why)
{
    if (atomic_load(&goodbyes)) return;
    if (atomic_exchange(&lost_known, true))
        for (;;) pause();
    shmemi_device_abort(pe);
    shmemi_service_give_launcher_time();
    if (atomic_load(&goodbyes)) return;
    shmemi_error("the way to PE %d (on %s) is lost: %s" WHY "that PE or its machine has ended, or the network between is down" FIX
                 "look at the messages of that PE and at the network",
                 pe, shmemi_init_host(pe), why && *why ? why : strerror(-error));
    shmemi_service_end(1);
}

/* ---- in exit() ---- */

static void *run_work(void *argument)
{
    (*(void (**)(void))argument)();
    sem_post(&leaver_goes_on);
    return NULL;
}

static void await_leave(void)
{
    while (sem_wait(&leaver_goes_on) != 0) {
        assert(errno == EINTR);
    }
}

void shmemi_service_at_exit(void (*work)(void))
{
    pthread_t worker;
    if (shmemi_service_ends_here() || sem_init(&leaver_goes_on, 0, 0) != 0) return;
    leaver = pthread_self();
    /* Either we see that another thread ends the process, or that thread sees us in exit_once. */
    atomic_store(&leaver_waits, true);
    if (atomic_load(&ending)) return;
    if (shmemi_service_thread(&worker, run_work, &work) != 0) {
        atomic_store(&leaver_waits, false);
        work();
        return;
    }
    await_leave();
    if (atomic_load(&leaver_ends)) exit(leaver_status);
    pthread_join(worker, NULL);
}

void shmemi_service_fatal(const char *call, const char *format, ...)
{
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    shmemi_error("%s: %s", call, text);
    shmemi_service_end(1);
}

void shmemi_service_outside(const char *call)
{
    shmemi_service_fatal(call, "called before shmem_init or after the last shmem_finalize" WHY
                               "there are no peers and no symmetric memory outside of these" FIX "call shmem_init first");
}
