/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread counts in a static object and takes a static mutex while the objects are made private. For the install it pauses, as a
 * program must. No increment is lost, and the mutex is not left locked. Then the same after mlockall, which makes the kernel fill new
 * mappings at once.
 */
#include "tests/data/job.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long   counter;
static volatile long   spread[64][512]; /* a page or more apart, so that stores meet pages in every state */
static volatile char   array[32 << 20];

enum { PAUSE, RUN, STOP };

/* On the heap: not in the range. */
struct orders {
    atomic_int  order;  /* what main wants: PAUSE, RUN, STOP  */
    atomic_int  answer; /* what the thread does               */
    atomic_long steps;  /* what the static counters must hold */
};

static void *count(void *arg)
{
    struct orders *orders = arg;
    while (atomic_load(&orders->order) != STOP) {
        int order = atomic_load(&orders->order);
        atomic_store(&orders->answer, order);
        if (order == PAUSE) {
            sched_yield();
            continue;
        }
        long steps = atomic_load(&orders->steps);
        CHECK(pthread_mutex_lock(&mutex) == 0);
        counter++;
        spread[steps % 64][0]++;
        array[(size_t)steps * 12289 % sizeof array]++;
        CHECK(pthread_mutex_unlock(&mutex) == 0);
        atomic_store(&orders->steps, steps + 1);
    }
    return NULL;
}

static void give(struct orders *orders, int order)
{
    atomic_store(&orders->order, order);
    while (atomic_load(&orders->answer) != order) sched_yield();
}

static void check_counters(struct orders *orders)
{
    long steps = atomic_load(&orders->steps), sum = 0;
    for (int i = 0; i < 64; i++) sum += spread[i][0];
    if (counter != steps || sum != steps) {
        fprintf(stderr, "%ld increments, but the counter holds %ld, the spread ones %ld\n", steps, counter, sum);
        _exit(1);
    }
    CHECK(pthread_mutex_trylock(&mutex) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void remove_while_counting(struct job *job, struct orders *orders)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    give(orders, RUN);
    nanosleep(&moment, NULL);
    shmemi_data_remove();
    nanosleep(&moment, NULL);
    give(orders, PAUSE);
    check_counters(orders);

    job_close(job);
    job_open(job);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    check_counters(orders);
}

int main(void)
{
    for (size_t i = 0; i < sizeof array; i += 4096) array[i] = 1;
    struct orders *orders = calloc(1, sizeof *orders);
    struct job    *job    = job_start();
    pthread_t      thread;
    CHECK(orders && pthread_create(&thread, NULL, count, orders) == 0);
    for (int round = 0; round < 12; round++) remove_while_counting(job, orders);
    if (mlockall(MCL_FUTURE) == 0) {
        for (int round = 0; round < 12; round++) remove_while_counting(job, orders);
        munlockall();
    } else {
        printf("not checked after mlockall: %s\n", strerror(errno));
    }
    atomic_store(&orders->order, STOP);
    CHECK(pthread_join(thread, NULL) == 0);
    printf("%ld increments\n", atomic_load(&orders->steps));
    free(orders);
    return 0;
}
