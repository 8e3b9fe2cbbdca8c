/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that takes a static lock around fork, by handlers that it registered before start-up: the child releases its own copy of the
 * lock and not the parent's.
 */
#include "tests/data/job.h"

#include <pthread.h>

static volatile long locked_by;
static volatile long released;
static volatile long constructed;

static void lock_it(void)
{
    locked_by = getpid();
}

static void release_in_child(void)
{
    if (locked_by != getppid()) _exit(20);
    locked_by = 0;
    released++;
}

static void release_in_parent(void)
{
    if (locked_by != getpid()) _exit(21);
    if (released != 0) _exit(22);
    usleep(2000); /* gives the child time to do wrong */
    if (locked_by != getpid()) _exit(23);
    locked_by = 0;
}

static __attribute__((constructor)) void start_early(void)
{
    constructed = pthread_atfork(lock_it, release_in_parent, release_in_child) == 0;
}

int main(void)
{
    CHECK(constructed);
    struct job *job = job_start();
    (void)job;
    for (int i = 0; i < 50; i++) {
        pid_t child = fork();
        if (child == 0) _exit(locked_by == 0 && released == 1 ? 0 : 1);
        CHECK(job_wait(child) == 0);
        CHECK(locked_by == 0 && released == 0);
    }
    return 0;
}
