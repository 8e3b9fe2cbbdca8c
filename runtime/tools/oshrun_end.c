/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of PEs and of the job.
 *
 * A PE may end in six ways:
 *   by a signal                                  failure; 128+signal
 *   non-zero, without having left                failure; its status       (also a program that never called shmem_init)
 *   zero, joined and not left                    failure, if others are still there a moment later
 *   non-zero, after it has left (shmem_finalize) the status counts, the others end by themselves
 *   non-zero, after its start failed             the status counts; others that still run a while later are ended
 *   zero                                         good
 * On a failure, on shmem_global_exit and on --timeout the others are told, so that they can say what they wait for and flush;
 * then they get TERM, then KILL. What is left of their process groups after that is killed too.
 */
#include "runtime/tools/oshrun.h"

#include "runtime/base/num.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* From the first death to the last within 2 s. */
#define TERM_AFTER_NS      800000000
#define KILL_AFTER_NS      1500000000
#define LOST_AFTER_NS      500000000  /* a PE ended below a script: the script may bring its status until then          */
#define UNSTARTED_AFTER_NS 2000000000 /* a PE's start failed: the others', too, and one of them is about to say why        */
#define FAILING_AFTER_NS   5000000000 /* a PE has ended with a status other than 0 and waits for the others to end      */
#define PATIENCE_NS        5000000000 /* after INT, TERM, HUP or QUIT from the user                                     */
#define GROUP_GONE_NS_MAX  300000000

/* ---- ending -------------------------------------------------------------------------------------------------------------- */

static void signal_group(const struct oshrun_pe *pe, int signal_number)
{
    if (pe->pid > 0) kill(-pe->pid, signal_number);
}

void oshrun_end_kill_all(struct oshrun_job *job, int signal_number)
{
    for (int i = 0; i < job->npes; i++) signal_group(&job->pes[i], signal_number);
}

static void set_status(struct oshrun_job *job, int status)
{
    if (job->status == 0) job->status = status;
}

void oshrun_end_begin(struct oshrun_job *job, enum launch_notice_kind kind, int status, const struct oshrun_pe *but,
                      const char *text)
{
    if (job->ending) return;
    int64_t now_ns = shmemi_now_ns();
    job->ending    = true;
    job->term_ns   = now_ns + TERM_AFTER_NS;
    job->kill_ns   = now_ns + KILL_AFTER_NS;
    set_status(job, status);

    for (int i = 0; i < job->npes; i++) {
        struct oshrun_pe *pe = &job->pes[i];
        if (pe == but || pe->exited) continue;
        if (pe->joined) oshrun_wire_send_notice(pe, kind, status, text);
        else if (!pe->ever_joined) signal_group(pe, SIGTERM); /* nothing in it listens */
    }
    oshrun_wire_end_exchange(job);
}

void oshrun_end_abort(struct oshrun_job *job, struct oshrun_pe *pe, int status, const char *reason)
{
    char text[LAUNCH_TEXT_BYTES + 64];
    if (job->ending) return;
    pe->aborted = true;
    if (*reason == '\0') {
        snprintf(text, sizeof text, "PE %d called shmem_global_exit(%d)", pe->number, status);
        oshrun_end_begin(job, LAUNCH_END, status & 0xff, pe, text);
    } else {
        /* It may have failed because another died a moment ago; then that one is the cause. */
        oshrun_end_reap(job);
        if (job->ending) return;
        oshrun_loop_drain(job, pe);
        oshrun_output_say(&job->output, "PE %d ended the job: %s", pe->number, reason);
        snprintf(text, sizeof text, "PE %d ended the job: %s", pe->number, reason);
        oshrun_end_begin(job, LAUNCH_FAILURE, (status & 0xff) != 0 ? status & 0xff : OSHRUN_EXIT_FAILED, pe, text);
    }
}

/* ---- how a PE ended ------------------------------------------------------------------------------------------------------ */

static void describe_signal(int number, char *text, size_t text_bytes)
{
    const char *name = sigabbrev_np(number);
    if (name != NULL) snprintf(text, text_bytes, "signal %d (SIG%s, %s)", number, name, strsignal(number));
    else snprintf(text, text_bytes, "signal %d", number);
}

/* What a user can do about it, or "". */
static const char *advice_on_signal(int number)
{
    const char *check = getenv("POSTERN_CHECK");
    if (number == SIGKILL) return "\n    why: somebody sent it, or memory ran out (see \"dmesg\" for the kernel's word)";
    if ((number == SIGSEGV || number == SIGBUS) && (check == NULL || strcmp(check, "1") != 0))
        return "\n    fix: run it with POSTERN_CHECK=1, which looks at the arguments of every call";
    return "";
}

static void fail_by_signal(struct oshrun_job *job, const struct oshrun_pe *pe, int number, bool core)
{
    char how[96], text[192];
    describe_signal(number, how, sizeof how);
    snprintf(text, sizeof text, "PE %d (process %ld) was ended by %s%s", pe->number, (long)pe->pid, how,
             core ? ", core dumped" : "");
    if (number == job->user_signal) {
        oshrun_output_say(&job->output, "the job was ended by %s, which oshrun got and passed on", how);
    } else if (!(number == SIGPIPE && pe->out.sink->is_broken)) { /* the user closed the output: no news */
        oshrun_output_say(&job->output, "%s%s", text, advice_on_signal(number));
    }
    /* After shmem_finalize nobody waits for this PE any more. */
    if (pe->ever_joined && !pe->joined) set_status(job, 128 + number);
    else oshrun_end_begin(job, LAUNCH_FAILURE, 128 + number, pe, text);
}

static void fail_by_status(struct oshrun_job *job, struct oshrun_pe *pe, int status)
{
    char text[192];
    bool has_left = pe->ever_joined && !pe->joined;
    snprintf(text, sizeof text, "PE %d (process %ld) exited with status %d%s", pe->number, (long)pe->pid, status,
             has_left     ? " after it left the job"
             : pe->joined ? " without shmem_finalize"
                          : "");
    if (pe->unstarted) { /* the reason has been printed, or is about to be, by whichever PE found it */
        set_status(job, status);
        pe->lost_ns = shmemi_now_ns();
    } else if (has_left) {
        if (job->failed_after_leaving++ == 0)
            oshrun_output_say(&job->output, "%s", text); /* often all do the same: one line is enough */
        set_status(job, status);
    } else {
        oshrun_output_say(&job->output, "%s", text);
        oshrun_end_begin(job, LAUNCH_FAILURE, status, pe, text);
    }
}

static void fail_unfinished(struct oshrun_job *job, const struct oshrun_pe *pe)
{
    char text[192];
    snprintf(text, sizeof text, "PE %d (process %ld) ended without shmem_finalize", pe->number, (long)pe->member_pid);
    oshrun_output_say(&job->output,
                      "%s"
                      "\n    why: the program exited with status 0 while other PEs were still in the job"
                      "\n    fix: call shmem_finalize on every PE, or shmem_global_exit to end them all",
                      text);
    oshrun_end_begin(job, LAUNCH_FAILURE, OSHRUN_EXIT_FAILED, pe, text);
}

/* The start failed for one PE, and some still run: most often they have not come to it yet, and would never get through it. */
static void fail_unstarted(struct oshrun_job *job, const struct oshrun_pe *pe)
{
    char text[192];
    snprintf(text, sizeof text, "PE %d (process %ld) could not start and exited with status %d", pe->number, (long)pe->pid,
             pe->status);
    oshrun_output_say(&job->output, "%s; the PEs that still run are ended", text);
    oshrun_end_begin(job, LAUNCH_FAILURE, pe->status, pe, text);
}

/* A program of start_pes has failed; its end is collective, and the others have not come to it. */
static void fail_failing(struct oshrun_job *job, const struct oshrun_pe *pe)
{
    char text[192];
    snprintf(text, sizeof text, "PE %d (process %ld) ends with status %d", pe->number, (long)pe->pid, pe->failing);
    oshrun_output_say(&job->output, "%s, and other PEs have not ended within %d s after it; they are ended", text,
                      (int)(FAILING_AFTER_NS / 1000000000));
    oshrun_end_begin(job, LAUNCH_FAILURE, pe->failing, NULL, text);
}

void oshrun_end_check_exchange(struct oshrun_job *job)
{
    if (job->ending) return;
    const struct oshrun_pe *pe = oshrun_wire_never_arrives(job);
    if (pe == NULL || pe->joined) return; /* joined: the reaper's or the timer's affair */
    char text[192];
    snprintf(text, sizeof text, "PE %d (process %ld) has ended, and other PEs wait for it", pe->number, (long)pe->pid);
    if (pe->status == 0) { /* else its end has been told already */
        oshrun_output_say(&job->output,
                          "%s"
                          "\n    why: its program %s, and then exited with status 0"
                          "\n    fix: every PE must call shmem_init and shmem_finalize equally often",
                          text, pe->ever_joined ? "has called shmem_finalize" : "has not called shmem_init");
    }
    oshrun_end_begin(job, LAUNCH_FAILURE, pe->status ? pe->status : OSHRUN_EXIT_FAILED, pe, text);
}

/* The PE's process has ended: read its last words, then judge. */
static void judge(struct oshrun_job *job, struct oshrun_pe *pe, const siginfo_t *how)
{
    bool by_signal = how->si_code != CLD_EXITED;
    oshrun_loop_drain(job, pe);
    if (pe->member_fd >= 0) {
        oshrun_loop_unwatch(job, pe->member_fd);
        close(pe->member_fd);
        pe->member_fd = -1;
    }
    if (job->ending || pe->aborted) return;
    if (by_signal) {
        fail_by_signal(job, pe, how->si_status, how->si_code == CLD_DUMPED);
    } else if (pe->status != 0) {
        fail_by_status(job, pe, pe->status);
    } else if (pe->joined && pe->lost_ns == 0) {
        pe->lost_ns = shmemi_now_ns(); /* others may be about to do the same */
    }
}

/* Collect who has ended; *how_out gets their ends. Not waited for: the zombie keeps the number of the process group. */
static bool look_at(struct oshrun_job *job, struct oshrun_pe *pe, siginfo_t *how_out)
{
    how_out->si_pid = 0;
    if (pe->exited || pe->pid <= 0) return false;
    if (waitid(P_PID, (id_t)pe->pid, how_out, WEXITED | WNOHANG | WNOWAIT) < 0 || how_out->si_pid == 0) return false;
    pe->exited = true;
    pe->status = how_out->si_code == CLD_EXITED ? how_out->si_status : 128 + how_out->si_status;
    job->running--;
    oshrun_wire_read_notices(job, pe); /* its LEAVE or ABORT came before its end */
    return true;
}

/*
 * Of several that ended at once the ones that a signal ended are judged first: they are the cause more often than the effect.
 */
void oshrun_end_reap(struct oshrun_job *job)
{
    siginfo_t how;
    int       ended = 0;
    for (int i = 0; i < job->npes; i++) {
        if (!look_at(job, &job->pes[i], &how)) continue;
        ended++;
        if (how.si_code != CLD_EXITED) judge(job, &job->pes[i], &how);
        else job->pes[i].judge_later = true;
    }
    for (int i = 0; i < job->npes && ended > 0; i++) {
        struct oshrun_pe *pe = &job->pes[i];
        if (!pe->judge_later) continue;
        pe->judge_later = false;
        judge(job, pe, &(siginfo_t){.si_code = CLD_EXITED, .si_status = pe->status});
    }
    if (ended > 0) oshrun_end_check_exchange(job);
}

void oshrun_end_member_lost(struct oshrun_job *job, struct oshrun_pe *pe)
{
    oshrun_wire_read_notices(job, pe);
    if (pe->member_fd < 0) return; /* it has left */
    /* The event may be of an earlier program, whose leave and whose successor's arrival have just been read. */
    struct pollfd ended = {.fd = pe->member_fd, .events = POLLIN};
    if (poll(&ended, 1, 0) == 0) return;
    oshrun_loop_unwatch(job, pe->member_fd);
    close(pe->member_fd);
    pe->member_fd = -1;
    pe->lost_ns   = shmemi_now_ns();
}

/* ---- signals and timers -------------------------------------------------------------------------------------------------- */

/* A script that does not know USR1 or USR2 would die of them, so they go to the PE itself where one stands between. */
static void pass_to_members(struct oshrun_job *job, int signal_number)
{
    for (int i = 0; i < job->npes; i++) {
        struct oshrun_pe *pe = &job->pes[i];
        if (pe->exited) continue;
        if (pe->member_fd >= 0) kill(pe->member_pid, signal_number);
        else signal_group(pe, signal_number);
    }
}

void oshrun_end_signal(struct oshrun_job *job, int signal_number)
{
    if (signal_number == SIGUSR1 || signal_number == SIGUSR2) {
        pass_to_members(job, signal_number);
        return;
    }
    if (signal_number == SIGTSTP || signal_number == SIGCONT) {
        oshrun_end_kill_all(job, signal_number);
        if (signal_number == SIGTSTP) raise(SIGSTOP);
        return;
    }
    if (job->user_signal != 0 && (signal_number == SIGINT || signal_number == SIGTERM)) {
        if (!job->ending) {
            char how[96];
            describe_signal(signal_number, how, sizeof how);
            oshrun_output_say(&job->output, "the PEs are killed: %s came again", how);
        }
        job->ending          = true;
        job->output_given_up = job->running == 0; /* only a reader that does not read keeps us */
        set_status(job, 128 + signal_number);
        oshrun_end_kill_all(job, SIGKILL);
        return;
    }
    if (job->user_signal == 0) job->patience_ns = shmemi_now_ns() + PATIENCE_NS;
    job->user_signal = signal_number;
    oshrun_end_kill_all(job, signal_number);
}

static void end_by_timeout(struct oshrun_job *job)
{
    char text[128];
    snprintf(text, sizeof text, "the job has not ended within %g s (--timeout)", (double)job->options->timeout_ns / 1e9);
    job->timeout_at_ns = 0;
    if (job->ending) return;
    oshrun_output_say(&job->output, "%s", text);
    job->status = 0; /* this status counts, not that of an earlier PE */
    oshrun_end_begin(job, LAUNCH_FAILURE, OSHRUN_EXIT_TIMEOUT, NULL, text);
}

static int64_t lost_until_ns(const struct oshrun_pe *pe)
{
    return pe->lost_ns + (pe->failing ? FAILING_AFTER_NS : pe->unstarted ? UNSTARTED_AFTER_NS : LOST_AFTER_NS);
}

static void check_lost(struct oshrun_job *job, int64_t now_ns)
{
    for (int i = 0; i < job->npes && !job->ending; i++) {
        struct oshrun_pe *pe = &job->pes[i];
        if (pe->lost_ns == 0 || now_ns < lost_until_ns(pe)) continue;
        pe->lost_ns = 0;
        if (job->running > 0) (pe->failing ? fail_failing : pe->unstarted ? fail_unstarted : fail_unfinished)(job, pe);
    }
}

void oshrun_end_timers(struct oshrun_job *job, int64_t now_ns)
{
    check_lost(job, now_ns);
    if (job->timeout_at_ns != 0 && now_ns >= job->timeout_at_ns) end_by_timeout(job);
    if (job->term_ns != 0 && now_ns >= job->term_ns) {
        job->term_ns = 0;
        oshrun_end_kill_all(job, SIGTERM);
        oshrun_end_kill_all(job, SIGCONT); /* a stopped process takes TERM only then */
    }
    if (job->kill_ns != 0 && now_ns >= job->kill_ns) {
        job->kill_ns = 0;
        oshrun_end_kill_all(job, SIGKILL);
    }
    if (job->patience_ns != 0 && now_ns >= job->patience_ns) {
        job->patience_ns = 0;
        if (job->ending) return;
        char how[96];
        describe_signal(job->user_signal, how, sizeof how);
        oshrun_output_say(&job->output, "the PEs are killed: they have not ended within %d s after %s",
                          (int)(PATIENCE_NS / 1000000000), how);
        job->ending = true;
        set_status(job, 128 + job->user_signal);
        oshrun_end_kill_all(job, SIGKILL);
    }
}

static void take_earlier(int64_t *earliest_ns, int64_t at_ns)
{
    if (at_ns != 0 && (*earliest_ns < 0 || at_ns < *earliest_ns)) *earliest_ns = at_ns;
}

int64_t oshrun_end_next_timer(const struct oshrun_job *job)
{
    int64_t earliest_ns = -1;
    take_earlier(&earliest_ns, job->timeout_at_ns);
    take_earlier(&earliest_ns, job->term_ns);
    take_earlier(&earliest_ns, job->kill_ns);
    take_earlier(&earliest_ns, job->patience_ns);
    for (int i = 0; i < job->npes && !job->ending; i++) {
        if (job->pes[i].lost_ns != 0) take_earlier(&earliest_ns, lost_until_ns(&job->pes[i]));
    }
    return earliest_ns;
}

/* ---- afterwards ---------------------------------------------------------------------------------------------------------- */

/* KILL is carried out a moment after kill() returns; nothing may be left when oshrun ends. */
static void wait_groups_gone(const struct oshrun_job *job)
{
    int64_t until_ns = shmemi_now_ns() + GROUP_GONE_NS_MAX;
    for (int i = 0; i < job->npes; i++) {
        while (job->pes[i].pid > 0 && kill(-job->pes[i].pid, 0) == 0 && shmemi_now_ns() < until_ns) poll(NULL, 0, 1);
    }
}

void oshrun_end_tell_rest(struct oshrun_job *job)
{
    int more = job->failed_after_leaving - 1;
    if (more > 0)
        oshrun_output_say(&job->output, "%d more PE%s exited with a status other than 0 after leaving the job", more,
                          more == 1 ? "" : "s");
}

void oshrun_end_finish(struct oshrun_job *job)
{
    if (job->ending) oshrun_end_kill_all(job, SIGKILL);
    for (int i = 0; i < job->npes; i++) {
        while (job->pes[i].pid > 0 && waitpid(job->pes[i].pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (job->ending) wait_groups_gone(job);
}
