/* SPDX-License-Identifier: Apache-2.0
 *
 * B44: children of all kinds end well, and the PEs go on as if there had been none. A child that leaves by exit() runs exit handlers and flushes
 * buffers: nothing of that may finalize the job, end it, or unlink anything.
 */
#include "../api/api.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static long   word, copy_of_child = 5;
static pid_t  parent;

static void at_exit(void)
{
    int initialized;
    shmem_query_initialized(&initialized);    /* legal at any time */
    if (getpid() != parent) shmem_finalize(); /* a careless handler: must not touch the job */
}

static void communicate(long round)
{
    int me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_long_p(&word, 100 * round + me, next);
    shmem_barrier_all();
    CHECK_EQUAL(word, 100 * round + (me + n - 1) % n);
    void *block = shmem_malloc(100);
    CHECK(block != NULL);
    shmem_free(block);
}

static void wait_for(pid_t pid, int wanted)
{
    int how = -1;
    CHECK(pid > 0 && waitpid(pid, &how, 0) == pid);
    CHECK(WIFEXITED(how));
    CHECK_EQUAL(WEXITSTATUS(how), wanted);
}

int main(void)
{
    parent = getpid();
    shmem_init();
    atexit(at_exit);
    long round = 1;

    pid_t pid = fork();
    if (pid == 0) execlp("true", "true", (char *)NULL), _exit(127);
    communicate(round++);
    wait_for(pid, 0);

    pid = fork();
    if (pid == 0) { /* statics of a child are its own, and their values are those of the fork */
        copy_of_child += 1;
        _exit(copy_of_child == 6 ? 4 : 5);
    }
    communicate(round++);
    wait_for(pid, 4);
    CHECK_EQUAL(copy_of_child, 5);

    pid = fork();
    if (pid == 0) exit(6);
    communicate(round++);
    wait_for(pid, 6);
    communicate(round++);

    fflush(stdout);
    CHECK_EQUAL(system("exit 3") >> 8, 3);
    communicate(round++);

    char  text[16] = "";
    FILE *pipe     = popen("echo hello", "r");
    CHECK(pipe && fgets(text, sizeof text, pipe) && strcmp(text, "hello\n") == 0);
    if (pipe) CHECK_EQUAL(pclose(pipe), 0);
    communicate(round++);

    char *arguments[] = {"true", NULL};
    CHECK_EQUAL(posix_spawnp(&pid, "true", NULL, NULL, arguments, environ), 0);
    wait_for(pid, 0);
    communicate(round++);

    shmem_finalize();
    return api_result();
}
