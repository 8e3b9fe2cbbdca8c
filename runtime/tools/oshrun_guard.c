/* SPDX-License-Identifier: Apache-2.0
 *
 * The guard: a small process that ends the PEs if oshrun is killed in a way that it cannot answer (kill -9, out of memory).
 *
 * It sleeps in a read of a pipe that only oshrun can write to, so end of file means that oshrun is gone. A parent-death signal
 * would not do: it reaches what oshrun started, but not a program that a shell script in between started. The process groups of the PEs
 * stand in a page of shared memory. A new PE enters its own number while it still holds the pipe, so there is no moment in which
 * it runs unknown.
 */
#include "runtime/tools/oshrun.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* PEs see end of file too and go by themselves, after they have said what they waited for. Then TERM, then KILL. */
#define GENTLE_NS 300000000
#define TERM_NS   800000000
#define STEP_MS   10

/* Send to every group; returns whether any is left. 0 only looks. */
static bool signal_groups(const struct oshrun_guard_table *table, int signal_number)
{
    bool left = false;
    for (int pe = 0; pe < table->npes; pe++) {
        pid_t group = table->groups[pe];
        if (group > 0 && kill(-group, signal_number) == 0) left = true;
    }
    return left;
}

static void wait_gone(const struct oshrun_guard_table *table, int64_t limit_ns)
{
    int64_t until_ns = shmemi_now_ns() + limit_ns;
    while (signal_groups(table, 0) && shmemi_now_ns() < until_ns) poll(NULL, 0, STEP_MS);
}

SHMEMI_NORETURN static void guard(const struct oshrun_guard_table *table, int pipe_fd)
{
    prctl(PR_SET_NAME, "postern-guard"); /* so that "killall -9 oshrun" leaves it alone */
    setsid();                            /* and a signal to oshrun's process group too  */
    if (chdir("/") < 0) {                /* only so that no file system stays busy */
    }
    int null_fd = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++) {
        if (null_fd < 0) close(fd);
        else dup2(null_fd, fd); /* a reader of oshrun's output must see its end */
    }
    int kept = pipe_fd == 3 ? 3 : dup2(pipe_fd, 3);
    if (kept == 3) {
        close_range(4, ~0u, 0);
        pipe_fd = 3;
    }

    char    byte;
    ssize_t got;
    do got = read(pipe_fd, &byte, 1);
    while (got < 0 && errno == EINTR);

    wait_gone(table, GENTLE_NS);
    signal_groups(table, SIGTERM);
    signal_groups(table, SIGCONT); /* a stopped process takes TERM only then */
    wait_gone(table, TERM_NS);
    signal_groups(table, SIGKILL);
    _exit(0);
}

/* All signals are blocked here and stay so in the guard. 0, or the exit status after an error message. */
int oshrun_guard_start(struct oshrun_job *job)
{
    int    ends[2];
    size_t bytes = sizeof *job->guard + (size_t)job->npes * sizeof job->guard->groups[0];
    job->guard   = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (job->guard == MAP_FAILED || pipe2(ends, O_CLOEXEC) < 0) {
        shmemi_error("could not prepare the start of %d PEs: %s" FIX
                     "raise the limits of memory and open files (ulimit -v, ulimit -n)",
                     job->npes, strerror(errno));
        return OSHRUN_EXIT_FAILED;
    }
    job->guard->npes = job->npes;

    job->guard_pid = fork();
    if (job->guard_pid < 0) {
        shmemi_error("could not start a process: %s" WHY "the limit of processes of this user or container is reached" FIX
                     "end some, or raise the limit (ulimit -u)",
                     strerror(errno));
        return OSHRUN_EXIT_FAILED;
    }
    if (job->guard_pid == 0) {
        close(ends[1]);
        guard(job->guard, ends[0]);
    }
    close(ends[0]);
    job->guard_fd = ends[1];
    return 0;
}

/* Nothing is left to guard: it may go while oshrun has still something to do. */
void oshrun_guard_dismiss(struct oshrun_job *job)
{
    if (job->guard_pid > 0) kill(job->guard_pid, SIGKILL);
}

void oshrun_guard_stop(struct oshrun_job *job)
{
    if (job->guard_pid <= 0) return;
    oshrun_guard_dismiss(job);
    while (waitpid(job->guard_pid, NULL, 0) < 0 && errno == EINTR) {
    }
    close(job->guard_fd);
    job->guard_pid = 0;
}
