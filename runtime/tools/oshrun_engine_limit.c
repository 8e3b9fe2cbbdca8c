/* SPDX-License-Identifier: Apache-2.0
 *
 * An engine with a time limit. Engines have limits of their own, but with other statuses, or counted in minutes. So for --timeout
 * oshrun stays, as the engine's parent: it passes signals on, and ends the engine when the time is over. The engine stays in oshrun's
 * process group, so that the terminal is its own. It gets TERM if oshrun is killed.
 */
#include "runtime/tools/oshrun_engine.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS INT64_C(10000000000) /* between TERM and KILL: the engine has to end its PEs on all hosts */

static void watched_signals(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) sigaddset(set, numbers[i]);
}

SHMEMI_NORETURN static void run_engine(char **argv, pid_t parent, const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(OSHRUN_EXIT_FAILED); /* it was killed before the line above */
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(argv[0], argv);
    int err = errno;
    shmemi_error("could not run %s: %s" FIX "oshrun --dry-run shows the command; try it by hand", argv[0], strerror(err));
    _exit(err == ENOENT ? OSHRUN_EXIT_NOT_FOUND : OSHRUN_EXIT_FAILED);
}

/* The next of the watched signals, or 0 when the time has come. */
static int next_signal(const sigset_t *watched, int64_t at_ns, siginfo_t *info_out)
{
    int64_t left_ns = at_ns - shmemi_now_ns();
    if (left_ns < 0) left_ns = 0;
    struct timespec left   = {.tv_sec = (time_t)(left_ns / 1000000000), .tv_nsec = (long)(left_ns % 1000000000)};
    int             number = sigtimedwait(watched, info_out, &left);
    return number > 0 ? number : 0;
}

static bool has_ended(pid_t engine, int *status_out)
{
    int status;
    if (waitpid(engine, &status, WNOHANG) != engine) return false;
    *status_out = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static int watch(pid_t engine, const sigset_t *watched, int64_t timeout_ns)
{
    bool    is_over = false;
    int     status  = 0;
    int64_t at_ns   = shmemi_now_ns() + timeout_ns;
    while (!has_ended(engine, &status)) {
        siginfo_t info;
        int       number = next_signal(watched, at_ns, &info);
        if (number == 0 && shmemi_now_ns() >= at_ns) {
            if (!is_over) shmemi_error("the job has not ended within %g s (--timeout)", (double)timeout_ns / 1e9);
            kill(engine, is_over ? SIGKILL : SIGTERM);
            is_over = true;
            at_ns   = shmemi_now_ns() + PATIENCE_NS;
        } else if (number != 0 && number != SIGCHLD && info.si_code <= 0) {
            kill(engine, number); /* somebody sent it to us alone; what the terminal sends reaches the engine by itself */
        }
    }
    return is_over ? OSHRUN_EXIT_TIMEOUT : status;
}

int oshrun_engine_limit_run(char **argv, int64_t timeout_ns)
{
    sigset_t watched, before;
    pid_t    self = getpid();
    assert(timeout_ns > 0);
    watched_signals(&watched);
    sigprocmask(SIG_BLOCK, &watched, &before);
    signal(SIGCHLD, SIG_DFL); /* ignored, the engine's status would be lost */
    pid_t engine = fork();
    if (engine == 0) run_engine(argv, self, &before);
    if (engine < 0) {
        shmemi_error("could not start %s: %s" FIX "raise the limit of processes (ulimit -u), or end some", argv[0],
                     strerror(errno));
        return OSHRUN_EXIT_FAILED;
    }
    return watch(engine, &watched, timeout_ns);
}
