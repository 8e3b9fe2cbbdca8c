/* SPDX-License-Identifier: Apache-2.0
 *
 * What the library calls that would wait in the kernel or look at a clock, caught by a program whose symbols come before libc's: under
 * the scheduler a thread that waits gives the token away, and time is the seed's. Threads that are started under the scheduler take
 * part from the start. Other threads, and all before simverbs_begin(), get libc's.
 *
 * Not caught: reads and writes of sockets (a program that brings its own exchange has none), and what libc calls inside itself.
 */
#include "simverbs.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CAUGHT __attribute__((visibility("default")))

/* The function of this name behind ours. */
#define REAL(name)                                              \
    __extension__({                                             \
        static __typeof__(&name) real_;                         \
        if (!real_) *(void **)&real_ = dlsym(RTLD_NEXT, #name); \
        real_;                                                  \
    })

enum { NS = 1000000000, THREADS_MAX = 64 };

static uint64_t end_of(const struct timespec *limit)
{
    return limit ? simverbs_now_ns() + (uint64_t)limit->tv_sec * NS + (uint64_t)limit->tv_nsec : UINT64_MAX;
}

/* ---- locks ---- */

CAUGHT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    int err;

    if (!simverbs_takes_part()) return REAL(pthread_mutex_lock)(mutex);
    while ((err = pthread_mutex_trylock(mutex)) == EBUSY) simverbs_yield();
    return err;
}

/* A condition may seem to have come though it has not: who waits looks again. */
CAUGHT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    if (!simverbs_takes_part()) return REAL(pthread_cond_wait)(cond, mutex);
    pthread_mutex_unlock(mutex);
    simverbs_wait(UINT64_MAX);
    return pthread_mutex_lock(mutex);
}

CAUGHT int sem_wait(sem_t *semaphore)
{
    if (!simverbs_takes_part()) return REAL(sem_wait)(semaphore);
    while (sem_trywait(semaphore) != 0) simverbs_yield();
    return 0;
}

/* ---- time ---- */

CAUGHT int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!simverbs_takes_part()) return REAL(clock_gettime)(clock, now);
    simverbs_yield(); /* or who looks at the clock until something happens would keep it from happening */
    now->tv_sec  = (time_t)(simverbs_now_ns() / NS);
    now->tv_nsec = (long)(simverbs_now_ns() % NS);
    return 0;
}

CAUGHT int sched_yield(void)
{
    if (!simverbs_takes_part()) return REAL(sched_yield)();
    simverbs_yield();
    return 0;
}

static void sleep_for(const struct timespec *duration)
{
    simverbs_sleep((uintptr_t)duration | 1, end_of(duration));
}

CAUGHT int nanosleep(const struct timespec *duration, struct timespec *left)
{
    if (!simverbs_takes_part()) return REAL(nanosleep)(duration, left);
    sleep_for(duration);
    return 0;
}

/* A thread that waits for the end of its process. */
CAUGHT int pause(void)
{
    if (!simverbs_takes_part()) return REAL(pause)();
    simverbs_sleep((uintptr_t)&errno | 1, UINT64_MAX);
    errno = EINTR;
    return -1;
}

CAUGHT int poll(struct pollfd *fds, nfds_t count, int timeout_ms)
{
    if (!simverbs_takes_part()) return REAL(poll)(fds, count, timeout_ms);
    uint64_t until = timeout_ms < 0 ? UINT64_MAX : simverbs_now_ns() + (uint64_t)timeout_ms * 1000000;
    for (;;) {
        int ready = REAL(poll)(fds, count, 0);
        if (ready != 0 || simverbs_now_ns() >= until) return ready;
        simverbs_wait(until);
    }
}

/* ---- sleeping on a word ---- */

/*
 * The key of a word. One that processes share lies at other addresses in each, at the same place in its page: sleepers on another word at
 * that place may be woken for nothing, which a futex allows.
 */
static uint64_t key_of(uintptr_t word, int operation)
{
    if (operation & FUTEX_PRIVATE_FLAG) return (uint64_t)getpid() << 48 ^ word;
    return UINT64_C(1) << 62 | (word & 4095);
}

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *limit)
{
    uint64_t key = key_of((uintptr_t)word, operation);

    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAKE) {
        unsigned woken = simverbs_wake(key, value);
        simverbs_yield();
        return (long)woken;
    }
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) {
        errno = EAGAIN;
        return -1;
    }
    if (simverbs_sleep(key, end_of(limit))) return 0;
    errno = ETIMEDOUT;
    return -1;
}

CAUGHT long syscall(long number, ...)
{
    va_list args;
    long    a[6];

    va_start(args, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(args, long);
    va_end(args);
    if (simverbs_takes_part() && number == SYS_futex &&
        ((a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT || (a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE))
        return futex((uint32_t *)a[0], (int)a[1], (uint32_t)a[2], (const struct timespec *)a[3]);
    if (simverbs_takes_part() && number == SYS_nanosleep) {
        sleep_for((const struct timespec *)a[0]);
        return 0;
    }
    return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- the machine ---- */

/* As many processors as SIMVERBS_CPUS says: PEs that are more than those wait in another way. */
CAUGHT int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    const char *cpus = getenv("SIMVERBS_CPUS");

    if (!simverbs_takes_part() || !cpus) return REAL(sched_getaffinity)(pid, bytes, set);
    memset(set, 0, bytes);
    for (int i = 0; i < atoi(cpus); i++) CPU_SET_S((size_t)i, bytes, set);
    return 0;
}

/* ---- threads ---- */

static struct late {
    pthread_t   thread;
    unsigned    number;
    atomic_bool used, ended;
    void *(*run)(void *);
    void *argument;
    void *result;
} late[THREADS_MAX];

static void *run_late(void *argument)
{
    struct late *self = argument;

    simverbs_enter(self->number);
    self->result = self->run(self->argument);
    atomic_store(&self->ended, true);
    simverbs_end();
    return self->result;
}

CAUGHT int pthread_create(pthread_t *thread_out, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    if (!simverbs_takes_part() || simverbs_starts_nic()) return REAL(pthread_create)(thread_out, attributes, run, argument);
    for (int i = 0; i < THREADS_MAX; i++) {
        if (atomic_exchange(&late[i].used, true)) continue;
        late[i].run      = run;
        late[i].argument = argument;
        late[i].number   = simverbs_spawn();
        atomic_store(&late[i].ended, false);
        int err        = REAL(pthread_create)(thread_out, attributes, run_late, &late[i]);
        late[i].thread = *thread_out;
        if (err) abort();
        return 0;
    }
    return EAGAIN;
}

CAUGHT int pthread_join(pthread_t thread, void **result_out)
{
    for (int i = 0; i < THREADS_MAX && simverbs_takes_part(); i++) {
        if (!atomic_load(&late[i].used) || !pthread_equal(late[i].thread, thread)) continue;
        while (!atomic_load(&late[i].ended)) simverbs_wait(UINT64_MAX);
        int err = REAL(pthread_join)(thread, result_out);
        atomic_store(&late[i].used, false);
        return err;
    }
    return REAL(pthread_join)(thread, result_out);
}
