/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads fork while a third counts and a peer's mapping is written: each child has a copy that stands still, and no count is lost.
 */
#include "tests/data/job.h"

#include <pthread.h>
#include <stdatomic.h>

enum { FORKS = 200 };

static atomic_long count;
static atomic_int  stop;

static void *count_up(void *arg)
{
    long own = 0;
    (void)arg;
    while (!stop) {
        atomic_fetch_add(&count, 1);
        own++;
    }
    return (void *)own;
}

static void *fork_often(void *arg)
{
    (void)arg;
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            long seen = count;
            usleep(200);
            if (count != seen) _exit(1);
            count = 0;
            _exit(0);
        }
        CHECK(job_wait(child) == 0);
    }
    return NULL;
}

int main(void)
{
    struct job *job = job_start();
    pthread_t   counter, forker[2];
    void       *counted;
    CHECK(pthread_create(&counter, NULL, count_up, NULL) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_create(&forker[i], NULL, fork_often, NULL) == 0);
    for (int i = 0; i < 2; i++) CHECK(pthread_join(forker[i], NULL) == 0);
    stop = 1;
    CHECK(pthread_join(counter, &counted) == 0);
    CHECK(count == (long)counted);
    CHECK(*(volatile long *)job_peer(job, &count) == (long)counted);
    return 0;
}
