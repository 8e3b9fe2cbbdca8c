/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests of the registry: call it, and keep what it says on standard error.
 */
#ifndef SHMEMT_REGISTRY_TEST_H
#define SHMEMT_REGISTRY_TEST_H

#include "tests/unit/unit.h"
#include "transports/transport.h"

#include <errno.h>
#include <unistd.h>

static char said[4096];

static inline int open_registry(const char *names, const char *path, struct shmemt_registry *registry_out)
{
    int pipe_fds[2], stderr_fd = dup(STDERR_FILENO);
    if (pipe(pipe_fds)) abort();
    dup2(pipe_fds[1], STDERR_FILENO);
    int result = shmemt_registry_open(names, path, registry_out);
    dup2(stderr_fd, STDERR_FILENO);
    close(stderr_fd);
    close(pipe_fds[1]);
    ssize_t got             = read(pipe_fds[0], said, sizeof said - 1); /* less than a pipe holds */
    said[got > 0 ? got : 0] = '\0';
    close(pipe_fds[0]);
    return result;
}

#endif
