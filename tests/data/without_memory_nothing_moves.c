/* SPDX-License-Identifier: Apache-2.0
 *
 * No mapping can be made: a removal leaves the objects shared and whole; an install is an error and leaves them private. Neither keeps
 * a descriptor that it should not.
 */
#include "tests/data/job.h"
#include "tests/data/refuse.h"

static volatile long value = 1;

/* The lowest free number: it grows with each descriptor that is kept. */
static int free_descriptor(void)
{
    int fd = dup(STDIN_FILENO);
    CHECK(fd >= 0 && close(fd) == 0);
    return fd;
}

static void check_shared(const struct job *job, long number)
{
    value = number;
    CHECK(*(volatile long *)job_peer(job, &value) == number);
}

/* In a child, as what is refused stays refused: install when mmap always fails. */
static int install_fails(struct job *job)
{
    int fd = free_descriptor();
    refuse(SYS_mmap, ENOMEM);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == -ENOMEM);
    CHECK(free_descriptor() == fd);
    value = 3;
    CHECK(*(volatile long *)job_peer(job, &value) != 3);
    return 0;
}

/* And removal. */
static int remove_fails(struct job *job)
{
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    check_shared(job, 4);
    refuse(SYS_mmap, ENOMEM);
    shmemi_data_remove();
    CHECK(value == 4);
    check_shared(job, 5);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == -EBUSY);
    check_shared(job, 6);
    return 0;
}

int main(void)
{
    struct job *job = job_find();
    job_open(job);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        if (child == 0) _exit(i == 0 ? install_fails(job) : remove_fails(job));
        int status = job_wait(child);
        if (status == 77) return 77;
        CHECK(status == 0);
    }
    return 0;
}
