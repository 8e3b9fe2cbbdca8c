/* SPDX-License-Identifier: Apache-2.0
 *
 * system, popen, posix_spawn, vfork and exec, fork and exec: they work, and the objects stay shared.
 */
#include "tests/data/job.h"

#include <spawn.h>

extern char        **environ;
static volatile long value = 1;

static int run_exec(int by_vfork)
{
    pid_t child = by_vfork ? vfork() : fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", "exit 5", (char *)NULL);
        _exit(1);
    }
    return job_wait(child);
}

static int run_spawn(void)
{
    pid_t child;
    char *args[] = {"sh", "-c", "exit 6", NULL};
    CHECK(posix_spawn(&child, "/bin/sh", NULL, NULL, args, environ) == 0);
    return job_wait(child);
}

static void run_popen(void)
{
    char  line[32] = "";
    FILE *out      = popen("echo hello", "r");
    CHECK(out);
    CHECK(fgets(line, sizeof line, out) && strcmp(line, "hello\n") == 0);
    CHECK(pclose(out) == 0);
}

int main(void)
{
    struct job *job = job_start();
    for (long i = 0; i < 3; i++) {
        CHECK(WEXITSTATUS(system("exit 4")) == 4);
        run_popen();
        CHECK(run_spawn() == 6);
        CHECK(run_exec(0) == 5);
        CHECK(run_exec(1) == 5);
        *(volatile long *)job_peer(job, &value) = 10 + i;
        CHECK(value == 10 + i);
    }
    return 0;
}
