/* SPDX-License-Identifier: Apache-2.0
 *
 * No memory for the copy at a fork: the child must not go on with its parent's pages. It ends with a message and status 127; the
 * parent's objects stay shared, and once there is memory fork works again.
 */
#include "tests/data/job.h"

#include <sys/resource.h>

static volatile char array[64 << 20];

/* Fork under a limit of the address space that leaves no room; the child's messages go to `err`. */
static pid_t fork_without_memory(size_t limit_bytes, int err)
{
    struct rlimit before, tight;
    int           keep = dup(STDERR_FILENO);
    CHECK(keep >= 0 && getrlimit(RLIMIT_AS, &before) == 0);
    CHECK(dup2(err, STDERR_FILENO) == STDERR_FILENO && close(err) == 0);
    tight          = before;
    tight.rlim_cur = limit_bytes;
    CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
    pid_t child = fork();
    if (child == 0) {
        array[0] = 1;
        _exit(0);
    }
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(dup2(keep, STDERR_FILENO) == STDERR_FILENO && close(keep) == 0);
    return child;
}

int main(void)
{
    char        text[1024];
    int         ends[2];
    struct job *job = job_start();
    CHECK(pipe(ends) == 0);
    pid_t child = fork_without_memory(job->data.bytes, ends[1]);
    if (child < 0) {
        printf("skipped: with so little memory fork itself fails here\n");
        return 77;
    }
    CHECK(job_wait(child) == 127);
    ssize_t got = read(ends[0], text, sizeof text - 1);
    CHECK(got > 0);
    text[got] = '\0';
    CHECK(strstr(text, "could not give a child of fork its own copy") && strstr(text, "fix: "));

    CHECK(array[0] == 0);
    array[1] = 2;
    CHECK(*(volatile char *)job_peer(job, &array[1]) == 2);
    child = fork();
    if (child == 0) _exit(array[1] == 2 ? 0 : 1);
    CHECK(job_wait(child) == 0);
    return 0;
}
