/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of what ends the process: do it in a forked child, and look at how the child ended and what it said.
 */
#ifndef POSTERN_TESTS_API_CHILD_H
#define POSTERN_TESTS_API_CHILD_H

#include "api.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    int  status;      /* exit status; 128 + signal; 0 also where the call returned */
    bool returned;    /* the call came back: it should not have                    */
    char error[4096]; /* standard error, with its NUL                              */
};

enum { CHILD_RETURNED = 123, CHILD_GUARD_S = 30 };

/* Run what() in a child. A child that hangs is ended by its alarm. */
static inline struct child child_run(void (*what)(void))
{
    struct child result = {.status = -1};
    int          ends[2];
    size_t       used = 0;
    if (pipe(ends) != 0) return result;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        alarm(CHILD_GUARD_S);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        what();
        _exit(CHILD_RETURNED);
    }
    close(ends[1]);
    for (;;) {
        ssize_t got = read(ends[0], result.error + used, sizeof result.error - 1 - used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    close(ends[0]);
    int how;
    if (pid > 0 && waitpid(pid, &how, 0) == pid) result.status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    result.returned = result.status == CHILD_RETURNED;
    return result;
}

/* The child must end with status 1 and say all of these (NULL ends the list). */
static inline bool child_refuses(const char *name, void (*what)(void), const char *const wanted[])
{
    struct child child = child_run(what);
    bool         right = child.status == 1;
    for (size_t i = 0; wanted[i]; i++)
        if (!strstr(child.error, wanted[i])) right = false;
    if (right) return true;
    fprintf(stderr, "%s: status %d%s, standard error:\n%s\n", name, child.status, child.returned ? " (the call came back)" : "",
            child.error);
    return false;
}

#endif
