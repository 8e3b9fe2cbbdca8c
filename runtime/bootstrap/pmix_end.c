/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of a job of PMIx.
 *
 * Three things must come together: each PE's output is flushed, the launcher learns the status, and nobody is left. What launchers do
 * differs. PMIx_Abort makes mpirun and prterun send TERM, and KILL a second later; Slurm sends KILL at once. An exit status that is not 0, and
 * a process that goes without PMIx_Finalize, end the job under mpirun, prterun and Slurm too, but with a message of theirs. So:
 *
 *   - who ends the job tells the PEs of its machine by a note (pmix_side). They leave by exit(); each flushes, closes its socket, and goes on
 *     when all the others have done the same. Where all PEs have got the note nobody needs PMIx_Abort, and a status of 0 stays 0;
 *   - else PMIx_Abort follows. PEs on other machines get TERM, which is handled like a note;
 *   - who calls exit() in the middle of a job is treated as if he had called for its end.
 */
#include "runtime/bootstrap/pmix_end.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/bootstrap/pmix_job.h"
#include "runtime/bootstrap/pmix_lib.h"
#include "runtime/bootstrap/pmix_side.h"

#include <assert.h>
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define GONE_NS_MAX    1000000000 /* for the other PEs of this machine to flush                                    */
#define ABORT_AFTER_NS 3000000000 /* the PE that ends the job is stuck in its exit handlers                        */
#define KILLED_NS_MAX  2000000000 /* for the launcher to end this process                                          */
#define FORWARD_NS     200000000  /* for the launcher to pass on what was flushed: some drop it when a job is aborted */
#define FLUSH_NS_MAX   300000000  /* a thread may sit on a stream's lock                                           */
#define UNFINISHED_NS  1000000000 /* others may be about to leave without shmem_finalize, too                      */
#define UNSTARTED_NS   2000000000 /* a PE's start failed: the others' too, and one of them is about to say why     */
#define SILENT_NS      3000000000 /* the same, where they cannot meet                                              */
#define FAILING_NS     5000000000 /* a PE is in exit() with a status other than 0, and waits for the others        */
enum { STATUS_TERM = 128 + SIGTERM };

static struct shmemi_pmix_job *const job = &shmemi_pmix_job;
static struct sigaction              signal_before;
static bool                          signal_taken;

static void nap(int64_t ns)
{
    struct timespec left = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

/* ---- what ends the job, as first heard ---- */

static bool ends(enum shmemi_pmix_job_ending how, bool everybody_knows, const struct shmemb_event *event)
{
    pthread_mutex_lock(&job->lock);
    bool first = job->ending == SHMEMI_PMIX_JOB_GOES_ON;
    if (first) {
        job->ending          = how;
        job->everybody_knows = everybody_knows;
        job->event           = *event;
    }
    pthread_mutex_unlock(&job->lock);
    shmemi_pmix_job_wake(job->answer_fd);
    shmemi_pmix_job_wake(job->note_fd);
    return first;
}

/* Tell every PE of this machine, or wait until all have closed their sockets. */
static bool tell_everybody(struct shmemi_pmix_side_note *note)
{
    int there = 0, told = 0;
    for (int pe = 0; pe < job->head.npes; pe++)
        if (pe != job->head.pe && shmemi_pmix_side_is_there(pe)) there++;
    note->everybody = there == job->head.npes - 1;
    for (int pe = 0; pe < job->head.npes; pe++)
        if (pe != job->head.pe && shmemi_pmix_side_send(pe, note)) told++;
    return note->everybody && told == there;
}

static bool others_are_gone(int64_t timeout_ns)
{
    int64_t until_ns = shmemi_now_ns() + timeout_ns;
    for (int pe = 0; pe < job->head.npes; pe++) {
        while (pe != job->head.pe && shmemi_pmix_side_is_there(pe)) {
            if (shmemi_now_ns() > until_ns) return false;
            nap(1000000);
        }
    }
    return true;
}

static void tell_launcher(int status, const char *text)
{
    shmemi_pmix_lib.abort(status & 0xff, text && *text ? text : "the job ends", NULL, 0);
}

/* ---- abort ---- */

static void *abort_later(void *unused)
{
    (void)unused;
    nap(ABORT_AFTER_NS);
    tell_launcher(job->event.status, job->event.text);
    return NULL;
}

/* In case that the exit handlers of the program never end. */
static void start_watchdog(void)
{
    pthread_t thread;
    sigset_t  all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = pthread_create(&thread, NULL, abort_later, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (runs) pthread_detach(thread);
    else tell_launcher(job->event.status, job->event.text);
}

static void end_job(int status, const char *reason)
{
    bool                         failure = reason && *reason;
    struct shmemi_pmix_side_note note    = {.kind   = failure ? SHMEMI_PMIX_SIDE_FAILURE : SHMEMI_PMIX_SIDE_END,
                                            .pe     = job->head.pe,
                                            .status = status & 0xff,
                                            .life   = job->life};
    struct shmemb_event          event   = {.kind = failure ? SHMEMB_EVENT_FAILURE : SHMEMB_EVENT_END, .status = status & 0xff};
    if (failure) snprintf(note.text, sizeof note.text, "PE %d ended the job: %.150s", job->head.pe, reason);
    else snprintf(note.text, sizeof note.text, "PE %d called shmem_global_exit(%d)", job->head.pe, status);
    if (failure && note.status == 0) note.status = event.status = 1;
    snprintf(event.text, sizeof event.text, "%s", note.text);
    if (!ends(SHMEMI_PMIX_JOB_ENDED_HERE, false, &event)) return;
    job->event_taken     = true; /* for others; the caller knows */
    job->everybody_knows = tell_everybody(&note);
    start_watchdog();
}

void shmemi_pmix_end_abort(struct shmemb *b, int status, const char *reason)
{
    assert(b == &job->head);
    (void)b;
    if (!shmemi_pmix_job_is_forked()) end_job(status, reason);
}

/* ---- events ---- */

/* PMIx's own thread calls this. It is asked for by code: handlers without codes get no event of a server. */
static void on_event(size_t handler, pmix_status_t code, const pmix_proc_t *source, pmix_info_t info[], size_t count,
                     pmix_info_t *results, size_t results_count, pmix_event_notification_cbfunc_fn_t done, void *done_data)
{
    const pmix_proc_t *affected = source;
    (void)handler, (void)results, (void)results_count;
    for (size_t i = 0; i < count; i++)
        if (strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 && info[i].value.type == PMIX_PROC)
            affected = info[i].value.data.proc;

    bool                is_mine = affected && strcmp(affected->nspace, job->me.nspace) == 0;
    bool                is_self = is_mine && affected->rank == job->me.rank;
    struct shmemb_event event   = {.kind = SHMEMB_EVENT_FAILURE, .status = 1};
    if (code == PMIX_ERR_LOST_CONNECTION && (!is_mine || is_self)) {
        snprintf(event.text, sizeof event.text, "the launcher's server on this machine is gone");
        ends(SHMEMI_PMIX_JOB_ENDED_ALONE, false, &event);
    } else if (is_mine && !is_self && atomic_load(&job->is_open)) {
        if (affected->rank <= PMIX_RANK_VALID)
            snprintf(event.text, sizeof event.text, "PE %u has died (PMIx says: %.100s)", affected->rank,
                     shmemi_pmix_lib.error_string(code));
        else snprintf(event.text, sizeof event.text, "PMIx says: %.150s", shmemi_pmix_lib.error_string(code));
        ends(SHMEMI_PMIX_JOB_ENDED_BY_EVENT, false, &event);
    }
    if (done) done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_data);
}

/* Registration takes its time; nothing waits for it, and where it fails the launcher still ends the job by signals. */
static void on_registered(pmix_status_t status, size_t handler, void *unused)
{
    (void)unused, (void)handler;
    if (status != PMIX_SUCCESS) shmemi_debug("PMIx will not tell of deaths: %s", shmemi_pmix_lib.error_string(status));
}

static void register_for_events(void)
{
    static pmix_status_t codes[] = {
        PMIX_ERR_LOST_CONNECTION,
#ifdef PMIX_ERR_PROC_ABORTED
        PMIX_ERR_PROC_ABORTED,
#endif
#ifdef PMIX_ERR_PROC_ABORTED_BY_SIG
        PMIX_ERR_PROC_ABORTED_BY_SIG,
#endif
#ifdef PMIX_ERR_PROC_TERM_WO_SYNC
        PMIX_ERR_PROC_TERM_WO_SYNC,
#endif
#ifdef PMIX_ERR_JOB_ABORTED
        PMIX_ERR_JOB_ABORTED,
#endif
#ifdef PMIX_ERR_JOB_ABORTED_BY_SIG
        PMIX_ERR_JOB_ABORTED_BY_SIG,
#endif
#ifdef PMIX_ERR_JOB_TERM_WO_SYNC
        PMIX_ERR_JOB_TERM_WO_SYNC,
#endif
#ifdef PMIX_ERR_JOB_NON_ZERO_TERM
        PMIX_ERR_JOB_NON_ZERO_TERM,
#endif
#ifdef PMIX_ERR_LOST_PEER_CONNECTION
        PMIX_ERR_LOST_PEER_CONNECTION,
#endif
#ifdef PMIX_EVENT_NODE_DOWN
        PMIX_EVENT_NODE_DOWN,
#endif
    };
    shmemi_pmix_lib.register_event_handler(codes, sizeof codes / sizeof codes[0], NULL, 0, on_event, on_registered, NULL);
}

/* ---- SIGTERM ---- */

/* Not for a forked child, nor while nobody listens: then it has its usual effect. */
static void on_term(int number)
{
    int before = errno;
    if (getpid() == job->owner && atomic_load(&job->listening) && !atomic_exchange(&job->got_term, true)) {
        shmemi_pmix_job_wake(job->note_fd);
    } else {
        signal(number, SIG_DFL);
        raise(number); /* delivered when this handler returns */
    }
    errno = before;
}

void shmemi_pmix_end_take_signal(void)
{
    struct sigaction mine = {.sa_handler = on_term, .sa_flags = SA_RESTART};
    sigemptyset(&mine.sa_mask);
    if (signal_taken || sigaction(SIGTERM, NULL, &signal_before) != 0) return;
    if (signal_before.sa_handler != SIG_DFL || (signal_before.sa_flags & SA_SIGINFO)) return;
    signal_taken = sigaction(SIGTERM, &mine, NULL) == 0;
}

void shmemi_pmix_end_give_signal_back(void)
{
    struct sigaction now;
    if (!signal_taken || sigaction(SIGTERM, NULL, &now) != 0) return;
    signal_taken = false;
    if (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == on_term) sigaction(SIGTERM, &signal_before, NULL);
}

/* ---- what next_event and the exchanges look at ---- */

void shmemi_pmix_end_leaving(struct shmemb *b, uint64_t barriers, int exit_status)
{
    assert(b == &job->head);
    (void)b;
    if (shmemi_pmix_job_is_forked()) return;
    job->barriers = barriers;
    atomic_store(&job->is_leaving, true);
    if (exit_status == 0) return;
    job->fail_status = exit_status;
    atomic_store(&job->fail_deadline_ns, shmemi_now_ns() + FAILING_NS);
    shmemi_pmix_job_wake(job->note_fd);
}

void shmemi_pmix_end_tell_left(void)
{
    struct shmemi_pmix_side_note note = {
        .kind = SHMEMI_PMIX_SIDE_LEFT, .pe = job->head.pe, .life = job->life, .barriers = job->barriers};
    int right = (job->head.pe + 1) % job->head.npes;
    if (right != job->head.pe) shmemi_pmix_side_send(right, &note);
}

/* The left neighbour came out of a barrier that all must have been in, so this PE has been told as much by leaving(); or it never will be. */
static void check_follows(const struct shmemi_pmix_side_note *note)
{
    if (note->life != job->life || !atomic_load(&job->is_open)) return;
    if (atomic_load(&job->is_leaving) && job->barriers == note->barriers) return;
    shmemi_error("PE %d has left the job by shmem_finalize, and PE %d cannot follow" WHY
                 "where PE %d made its last shmem_finalize, PE %d made another collective call: a barrier, an allocation, or a"
                 " shmem_finalize that was not the last" FIX
                 "call shmem_init and shmem_finalize equally often on every PE, and all collective calls in the same order",
                 note->pe, job->head.pe, note->pe, job->head.pe);
    end_job(1, "it cannot follow the others out of shmem_finalize");
    job->event_taken = false; /* the caller is no user's thread: it ends this PE by the event */
}

static void read_notes(void)
{
    struct shmemi_pmix_side_note note;
    while (shmemi_pmix_side_receive(&note)) {
        if (note.kind == SHMEMI_PMIX_SIDE_LEFT) {
            check_follows(&note);
        } else if (note.kind == SHMEMI_PMIX_SIDE_END || note.kind == SHMEMI_PMIX_SIDE_FAILURE) {
            struct shmemb_event event = {
                .kind   = note.kind == SHMEMI_PMIX_SIDE_END ? SHMEMB_EVENT_END : SHMEMB_EVENT_FAILURE,
                .status = note.status,
            };
            memcpy(event.text, note.text, sizeof event.text);
            ends(SHMEMI_PMIX_JOB_ENDED_BY_PEER, note.everybody != 0, &event);
        }
    }
}

int64_t shmemi_pmix_end_deadline_ns(void)
{
    int64_t deadline_ns = atomic_load(&job->fail_deadline_ns);
    return deadline_ns ? deadline_ns : -1;
}

bool shmemi_pmix_end_look(struct shmemb_event *event_out)
{
    int64_t deadline_ns = atomic_load(&job->fail_deadline_ns);
    read_notes();
    if (deadline_ns && shmemi_now_ns() >= deadline_ns && atomic_exchange(&job->fail_deadline_ns, 0)) {
        shmemi_error("PE %d ends with status %d, and other PEs have not ended within %d s after it; they are ended", job->head.pe,
                     job->fail_status, (int)(FAILING_NS / 1000000000));
        end_job(job->fail_status, "it has failed");
        job->event_taken = false;
    }
    if (atomic_load(&job->got_term))
        ends(SHMEMI_PMIX_JOB_ENDED_BY_SIGNAL, false, &(struct shmemb_event){.kind = SHMEMB_EVENT_END, .status = STATUS_TERM});
    pthread_mutex_lock(&job->lock);
    bool told = job->ending != SHMEMI_PMIX_JOB_GOES_ON && !job->event_taken;
    if (told) *event_out = job->event;
    pthread_mutex_unlock(&job->lock);
    return told;
}

/* ---- exit() ---- */

static void *flush_all(void *done)
{
    fflush(NULL);
    sem_post(done);
    return NULL;
}

/* In a thread, because another one may hold a stream's lock for ever (it reads from a terminal, say). */
static void flush(void)
{
    static sem_t    done; /* outlives this function: the thread may come late */
    pthread_t       thread;
    struct timespec until;
    if (sem_init(&done, 0, 0) != 0 || pthread_create(&thread, NULL, flush_all, &done) != 0) return;
    pthread_detach(thread);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += FLUSH_NS_MAX;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (sem_timedwait(&done, &until) != 0 && errno == EINTR) continue;
}

static void finalize(void)
{
    shmemi_pmix_lib.finalize(NULL, 0);
}

/* The job ends, and this process knows it. status: of exit(). */
static void leave_ending_job(int status)
{
    flush();
    if (job->ending == SHMEMI_PMIX_JOB_ENDED_ALONE || job->ending == SHMEMI_PMIX_JOB_ENDED_BY_SIGNAL) return;
    shmemi_pmix_side_close();
    bool gone = others_are_gone(GONE_NS_MAX);
    if (job->event.status != 0) nap(FORWARD_NS);
    if (job->ending == SHMEMI_PMIX_JOB_ENDED_BY_EVENT ||
        (job->ending == SHMEMI_PMIX_JOB_ENDED_HERE && !(gone && job->everybody_knows))) {
        tell_launcher(job->event.status, job->event.text);
        nap(KILLED_NS_MAX);
        /* Slurm now and then does not hear PMIx_Abort. A status it sees in any case; handlers of the program that are left do not run then. */
        if (status == 0 && job->event.status != 0) {
            flush();
            _exit(job->event.status);
        }
        return;
    }
    if (!job->everybody_knows) nap(KILLED_NS_MAX);
    finalize();
}

/* exit() between shmem_init and shmem_finalize. */
static void leave_unfinished(int status)
{
    if (job->head.npes == 1 || (status == 0 && !job->broken && shmemi_pmix_job_meet(UNFINISHED_NS) == 0)) {
        finalize(); /* nobody is left to wait */
        return;
    }
    if (job->ending != SHMEMI_PMIX_JOB_GOES_ON) { /* meanwhile */
        leave_ending_job(status);
        return;
    }
    if (status == 0)
        shmemi_error("ended without shmem_finalize" WHY "the program exited with status 0 while other PEs were still in the job" FIX
                     "call shmem_finalize on every PE, or shmem_global_exit to end them all");
    else shmemi_error("exited with status %d without shmem_finalize", status);
    end_job(status ? status : 1, "it exited without shmem_finalize");
    leave_ending_job(status);
}

/* exit() after a start that failed. Most often it failed for all, and one of them says why. */
static void leave_unstarted(int status)
{
    if (status == 0 || job->head.npes == 1 || (!job->broken && shmemi_pmix_job_meet(UNSTARTED_NS) == 0)) {
        finalize();
        return;
    }
    if (job->broken && job->silent) {
        nap(SILENT_NS); /* the PE that should say it has not ended the job: some servers tell only one of two that a fence is over */
        shmemi_pmix_job_say_missing();
    }
    flush();
    tell_launcher(status, "it could not start");
    nap(KILLED_NS_MAX);
}

static void on_program_exit(int status, void *unused)
{
    (void)unused;
    if (!job->joined || shmemi_pmix_job_is_forked()) return;
    atomic_store(&job->listening, false); /* from now on SIGTERM ends the process */
    job->joined = false;
    if (job->ending != SHMEMI_PMIX_JOB_GOES_ON) leave_ending_job(status & 0xff);
    else if (atomic_load(&job->is_open)) leave_unfinished(status & 0xff);
    else if (!job->started) leave_unstarted(status & 0xff);
    else finalize();
}

int shmemi_pmix_end_prepare(void)
{
    register_for_events();
    if (on_exit(on_program_exit, NULL) == 0) return 0;
    shmemi_error("could not register the end of the job with exit()" WHY "there is no memory left" FIX "start fewer PEs");
    return -ENOMEM;
}
