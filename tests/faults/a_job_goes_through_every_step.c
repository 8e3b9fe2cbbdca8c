/* SPDX-License-Identifier: Apache-2.0
 *
 * Each step of a job, over near and far PEs: start-up, puts, gets, atomics, signals, waits, a lock, heap calls, barriers, collectives, finalize.
 * With arguments, one PE is killed in a step while all others are in it too, so that nobody can come out of it:
 *   STEP PE [MICROSECONDS]   the step's name; which PE; how long after the step has begun for it (default 20000)
 * Spec: OpenSHMEM 1.6 §4 Execution Model
 * NODES: a,b
 * PES: 3
 */
#include "../api/api.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { TURNS = 10, COUNT = 3000 };

static const char *fatal_step = "";
static int         victim     = -1;
static useconds_t  delay_us   = 20000;

static long     words[COUNT], values[COUNT], never, lock, counter;
static uint64_t signal_word;

static void *kill_later(void *unused)
{
    (void)unused;
    usleep(delay_us);
    kill(getpid(), SIGKILL);
    return NULL;
}

static bool is_fatal(const char *step)
{
    return strcmp(step, fatal_step) == 0;
}

/* A step begins on this PE; true: nobody comes out of it, as its victim is about to be killed. */
static bool begin(const char *step, int me)
{
    pthread_t thread;
    if (!is_fatal(step)) return false;
    if (me == victim && pthread_create(&thread, NULL, kill_later, NULL) != 0) abort();
    return true;
}

/* One turn of a step that is made of operations on a peer. */
static void work(const char *step, int peer)
{
    switch (step[0]) {
    case 'p': shmem_long_put_nbi(words, values, COUNT, peer); break;
    case 'g': shmem_long_get(values, words, COUNT, peer); break;
    case 'a': (void)shmem_long_atomic_fetch_inc(&counter, peer); break;
    case 's': shmem_long_put_signal(words, values, 100, &signal_word, 1, SHMEM_SIGNAL_ADD, peer); break;
    case 'q':
        shmem_long_p(words, 1, peer);
        shmem_quiet();
        break;
    case 'h': shmem_free(shmem_malloc(1000)); break;
    default: shmem_long_sum_reduce(SHMEM_TEAM_WORLD, values, words, COUNT); break;
    }
}

static void go_through(int me, int n)
{
    static const char *const steps[] = {"put", "get", "atomic", "signal", "quiet", "heap", "collective"};
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        shmem_barrier_all();
        bool for_ever = begin(steps[s], me);
        for (long i = 0; for_ever || i < TURNS * n; i++) work(steps[s], (int)(i % n));
    }
    shmem_barrier_all();
}

/* Steps in which PEs wait for one that does not come: not for the victim, who waits too. */
static void block(int me, int n)
{
    int idle = victim == 0 ? n - 1 : 0;
    shmem_barrier_all();
    if (begin("wait", me)) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    if (begin("barrier", me)) {
        if (me == idle) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
        shmem_barrier_all();
    }
    bool waiter = is_fatal("lock"), holder = is_fatal("holder");
    if (waiter || holder) {
        int first = waiter ? idle : victim; /* who holds it */
        if (me == first) shmem_set_lock(&lock);
        shmem_barrier_all();
        begin(fatal_step, me);
        if (me != first) shmem_set_lock(&lock);
        shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
    }
    if (begin("finalize", me) && me == idle) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0);
}

int main(int argc, char **argv)
{
    if (argc > 2) fatal_step = argv[1], victim = atoi(argv[2]);
    if (argc > 3) delay_us = (useconds_t)atoi(argv[3]);
    begin("start", api_pe());
    shmem_init();
    int me = shmem_my_pe(), n = shmem_n_pes();
    if (is_fatal("start")) shmem_long_wait_until(&never, SHMEM_CMP_NE, 0); /* killed after all, where init was quicker */
    go_through(me, n);
    block(me, n);
    CHECK_EQUAL(shmem_long_atomic_fetch(&counter, me), TURNS * n);
    CHECK_EQUAL(shmem_signal_fetch(&signal_word), TURNS * n);
    if (is_fatal("leaving")) begin("leaving", me); /* finalize as it comes: the kill may be too late */
    shmem_finalize();
    return api_result();
}
