/* SPDX-License-Identifier: Apache-2.0
 *
 * A job of one process for the tests of runtime/data.c: a memfd stands for the node's file, a second mapping of it for what a peer
 * sees. job_peer(&object) is where the peer finds a static object.
 */
#ifndef TESTS_DATA_JOB_H
#define TESTS_DATA_JOB_H

#include "runtime/data.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(truth)                                                                                          \
    do {                                                                                                      \
        if (!(truth)) {                                                                                       \
            fprintf(stderr, "%s:%d: not true: %s (errno %s)\n", __FILE__, __LINE__, #truth, strerror(errno)); \
            _exit(1);                                                                                         \
        }                                                                                                     \
    } while (0)

struct job {
    struct shmemi_data data;
    int                fd;
    off_t              offset;
    char              *peer;
};

/* The job itself is on the heap: the tests change static objects. Kept here for leak checkers. */
static struct job *job_kept __attribute__((used));

static inline size_t job_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static inline struct job *job_find(void)
{
    struct job *job = calloc(1, sizeof *job);
    CHECK(job);
    job_kept = job;
    CHECK(shmemi_data_find(&job->data) == 0);
    return job;
}

/* A fresh file, with room before and after the range. */
static inline void job_open(struct job *job)
{
    job->offset = (off_t)(4 * job_page());
    job->fd     = memfd_create("postern-test", MFD_CLOEXEC);
    CHECK(job->fd >= 0);
    CHECK(ftruncate(job->fd, job->offset + (off_t)(job->data.bytes + 4 * job_page())) == 0);
    job->peer = mmap(NULL, job->data.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, job->fd, job->offset);
    CHECK(job->peer != MAP_FAILED);
}

static inline void job_close(struct job *job)
{
    CHECK(munmap(job->peer, job->data.bytes) == 0);
    CHECK(close(job->fd) == 0);
}

static inline struct job *job_start(void)
{
    struct job *job = job_find();
    if (job->data.bytes == 0) {
        printf("no symmetric static objects: %s\n", job->data.reason);
        exit(1);
    }
    job_open(job);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    return job;
}

static inline int job_holds(const struct job *job, const volatile void *object)
{
    return (uintptr_t)object >= job->data.base && (uintptr_t)object < job->data.base + job->data.bytes;
}

static inline void *job_peer(const struct job *job, const volatile void *object)
{
    CHECK(job_holds(job, object));
    return job->peer + ((uintptr_t)object - job->data.base);
}

/* Memory that the file occupies. */
static inline size_t job_file_bytes(const struct job *job)
{
    struct stat file;
    CHECK(fstat(job->fd, &file) == 0);
    return (size_t)file.st_blocks * 512;
}

/* The exit status of a child, or 128 + its signal. */
static inline int job_wait(pid_t child)
{
    int status = 0;
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#endif
