/* SPDX-License-Identifier: Apache-2.0
 *
 * A PE that a launcher with a PMIx server started: Open MPI's mpirun, Slurm's srun --mpi=pmix, PRRTE's prterun.
 *
 * An exchange is one PMIx_Put, one PMIx_Commit and one PMIx_Fence that collects, then a PMIx_Get for each card: the server of this machine has
 * them all by then. Everything that could wait does so in poll() here, with a deadline of ours, since servers keep the time-outs that PMIx
 * has for this in part only.
 *
 * The files: pmix_lib, libpmix.so.2; pmix_value, cards and numbers; pmix_side, notes between the PEs of a machine; pmix_end, how a job ends.
 */
#include "runtime/bootstrap/pmix.h"

#include "runtime/base/attr.h"
#include "runtime/base/num.h"
#include "runtime/bootstrap/pmix_end.h"
#include "runtime/bootstrap/pmix_job.h"
#include "runtime/bootstrap/pmix_lib.h"
#include "runtime/bootstrap/pmix_side.h"
#include "runtime/bootstrap/pmix_value.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define SERVER_NS_MAX 500000000   /* for the server to tell that a fence is late                                      */
#define CARD_NS_MAX   10000000000 /* for a card after the fence: the server has it, unless the PE died in the fence */
#define ASK_NS_MAX    2000000000  /* for the question who is missing                                                */
#define ASK_TIMEOUT_S 1           /* the same, for the server                                                       */
enum { WINDOW = 64 };             /* questions to the server under way at once                                      */

struct shmemi_pmix_job shmemi_pmix_job = {.answer_fd = -1, .note_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static struct shmemi_pmix_job *const job = &shmemi_pmix_job;
static void (*await_turn)(void);
static int64_t               init_timeout_ns;
static enum shmemi_log_level log_level; /* once joined; before, it may be another PE's turn to say what is wrong */

bool shmemi_pmix_job_is_forked(void)
{
    return job->owner != getpid();
}

void shmemi_pmix_job_wake(int fd)
{
    if (fd >= 0) (void)!write(fd, &(uint64_t){1}, sizeof(uint64_t));
}

static void forget_wakes(int fd)
{
    uint64_t count;
    (void)!read(fd, &count, sizeof count);
}

/* ---- waiting ---- */

/* Sleep until fd or the socket of notes is readable, or the deadline (< 0: none). */
static void sleep_until(int fd, int64_t deadline_ns)
{
    struct pollfd   fds[2] = {{.fd = fd, .events = POLLIN}, {.fd = shmemi_pmix_side_fd(), .events = POLLIN}};
    struct timespec left, *limit = NULL;
    if (deadline_ns >= 0) {
        int64_t left_ns = deadline_ns - shmemi_now_ns();
        if (left_ns < 0) left_ns = 0;
        left  = (struct timespec){.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
        limit = &left;
    }
    if (ppoll(fds, 2, limit, NULL) > 0 && fds[0].revents) forget_wakes(fd);
}

/*
 * Wait until *left is 0. 0; -ETIMEDOUT; -ECONNRESET: the job ends (said). PMIx's thread lowers *left and wakes us; acquire, since we read what
 * it wrote before.
 */
static int await_answers(atomic_int *left, int64_t deadline_ns)
{
    struct shmemb_event event;
    for (;;) {
        if (atomic_load_explicit(left, memory_order_acquire) == 0) return 0;
        if (shmemi_pmix_end_look(&event)) {
            shmemi_info("the job ends: %s", event.text);
            return -ECONNRESET;
        }
        if (deadline_ns >= 0 && shmemi_now_ns() >= deadline_ns) return -ETIMEDOUT;
        sleep_until(job->answer_fd, deadline_ns);
    }
}

static int64_t deadline_of(int64_t timeout_ns)
{
    return timeout_ns < 0 ? -1 : shmemi_now_ns() + timeout_ns;
}

/* ---- fence ---- */

/* Only one at a time, and static: PMIx may answer after we gave up. */
static struct {
    atomic_int    left;
    pmix_status_t status;
} fence;

static void on_fence(pmix_status_t status, void *unused)
{
    (void)unused;
    fence.status = status;
    atomic_store_explicit(&fence.left, 0, memory_order_release);
    shmemi_pmix_job_wake(job->answer_fd);
}

/*
 * *status_out is PMIx's where 0 is returned. timeout_ns < 0: no limit.
 *
 * Data are collected even where a barrier is all that is wanted and nobody has given any: without that word Slurm 22.05 lets each node's PEs through at
 * once, whatever the other nodes do.
 *
 * The server is told the limit too, and asked first: it then forgets the fence. A job that ends while a fence is under way makes Debian's mpirun
 * (PMIx 4.2) hang or crash. Not all servers keep to it, so there is a limit of ours behind it.
 */
static int call_fence(int64_t timeout_ns, pmix_status_t *status_out)
{
    int64_t     whole_s = timeout_ns < 0 ? 0 : (timeout_ns + 999999999) / 1000000000;
    int64_t     wait_ns = timeout_ns < 0 ? -1 : whole_s * 1000000000 + SERVER_NS_MAX;
    pmix_info_t info[2];
    size_t      infos = 0;
    memset(info, 0, sizeof info);
    info[infos++] = (pmix_info_t){.key = PMIX_COLLECT_DATA, .value = {.type = PMIX_BOOL, .data = {.flag = true}}};
    if (whole_s > 0 && whole_s <= INT_MAX)
        info[infos++] = (pmix_info_t){.key = PMIX_TIMEOUT, .value = {.type = PMIX_INT, .data = {.integer = (int)whole_s}}};
    atomic_store(&fence.left, 1);
    pmix_status_t status = shmemi_pmix_lib.fence_nb(&job->all, 1, infos ? info : NULL, infos, on_fence, NULL);
    if (status == PMIX_OPERATION_SUCCEEDED) status = PMIX_SUCCESS;
    else if (status == PMIX_SUCCESS) {
        int err = await_answers(&fence.left, deadline_of(wait_ns));
        if (err) return err;
        status = fence.status;
    }
    if (status == PMIX_ERR_TIMEOUT) return -ETIMEDOUT;
    *status_out = status;
    return 0;
}

int shmemi_pmix_job_meet(int64_t timeout_ns)
{
    pmix_status_t status;
    int           err = call_fence(timeout_ns, &status);
    return err ? err : status == PMIX_SUCCESS ? 0 : -ECONNRESET;
}

/* ---- questions for cards ---- */

/* Some questions to the server. PMIx may answer after we gave up, so it is counted who still needs the memory. */
struct batch {
    atomic_int      users; /* questions without an answer, and the asker                              */
    atomic_int      left;  /* questions without an answer                                              */
    pthread_mutex_t lock;
    bool            given_up; /* the asker is gone: nothing may be written to the cards any more          */
    uint32_t        round, piece;
    char           *cards; /* NULL: it is only asked which are there                                    */
    size_t          card_bytes;
    struct asked {
        struct batch *batch;
        int           pe;
        bool          is_there;
        const char   *wrong; /* NULL: nothing */
        pmix_status_t status;
    } asked[WINDOW];
};

static void drop(struct batch *batch)
{
    if (atomic_fetch_sub(&batch->users, 1) != 1) return;
    pthread_mutex_destroy(&batch->lock);
    free(batch);
}

static void on_card(pmix_status_t status, pmix_value_t *value, void *data)
{
    struct asked *asked = data;
    struct batch *batch = asked->batch;
    pthread_mutex_lock(&batch->lock);
    asked->status = status;
    if (!batch->given_up && status == PMIX_SUCCESS) {
        asked->is_there = true;
        if (batch->cards)
            asked->wrong = shmemi_pmix_value_join(value, batch->round, batch->piece,
                                                  batch->cards + (size_t)asked->pe * batch->card_bytes, batch->card_bytes);
    }
    pthread_mutex_unlock(&batch->lock);
    atomic_fetch_sub_explicit(&batch->left, 1, memory_order_release);
    shmemi_pmix_job_wake(job->answer_fd);
    drop(batch);
}

static void ask(struct asked *asked, int timeout_s)
{
    char        key[SHMEMI_PMIX_VALUE_KEY_BYTES];
    pmix_proc_t proc = job->me;
    pmix_info_t info = {.key = PMIX_TIMEOUT, .value = {.type = PMIX_INT, .data = {.integer = timeout_s}}};
    proc.rank        = (pmix_rank_t)asked->pe;
    shmemi_pmix_value_key(key, asked->batch->round, asked->batch->piece);
    pmix_status_t status = shmemi_pmix_lib.get_nb(&proc, key, &info, 1, on_card, asked);
    if (status != PMIX_SUCCESS) on_card(status, NULL, asked);
}

/*
 * Ask for one piece of the cards of the PEs from first to before end, at most WINDOW. *batch_out has the answers, and is the caller's to drop,
 * except after an error: -ENOMEM, -ECONNRESET. Who does not answer in time is not there.
 */
static int ask_for(int first, int end, uint32_t piece, char *cards, size_t card_bytes, int64_t timeout_ns, int timeout_s,
                   struct batch **batch_out)
{
    struct batch *batch = calloc(1, sizeof *batch);
    if (!batch) {
        shmemi_error("could not get memory for an exchange" WHY "malloc gave none" FIX "raise `ulimit -v`, or start fewer PEs");
        return -ENOMEM;
    }
    pthread_mutex_init(&batch->lock, NULL);
    batch->round      = job->round;
    batch->piece      = piece;
    batch->cards      = cards;
    batch->card_bytes = card_bytes;
    int questions     = end - first - (job->head.pe >= first && job->head.pe < end); /* none for our own */
    atomic_init(&batch->left, questions);
    atomic_init(&batch->users, questions + 1);
    for (int pe = first; pe < end; pe++)
        batch->asked[pe - first] = (struct asked){.batch = batch, .pe = pe, .is_there = pe == job->head.pe};
    for (int pe = first; pe < end; pe++)
        if (pe != job->head.pe) ask(&batch->asked[pe - first], timeout_s);
    int err = await_answers(&batch->left, deadline_of(timeout_ns));
    pthread_mutex_lock(&batch->lock);
    batch->given_up = true;
    pthread_mutex_unlock(&batch->lock);
    if (err == -ECONNRESET) {
        drop(batch);
        return err;
    }
    *batch_out = batch;
    return 0;
}

/* ---- who is missing ---- */

/* "PE 3 has", "PEs 1, 2, 7 have"; long lists are cut. */
struct list {
    char   text[256];
    size_t used;
    int    count;
};

static void add_to(struct list *list, int pe)
{
    list->count++;
    if (list->used > sizeof list->text - 32) return;
    list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used, "%s%d", list->used ? ", " : "", pe);
    if (list->used > sizeof list->text - 32)
        list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used, ", ...");
}

/* Which PEs have no card of this round. stop_at_lower: it is enough to know that a lower PE than this one is there (job->silent). 0 or an errno. */
static int find_missing(bool stop_at_lower, struct list *missing_out)
{
    job->silent = false;
    for (int first = 0; first < job->head.npes && !(job->silent && stop_at_lower); first += WINDOW) {
        int           end = first + WINDOW < job->head.npes ? first + WINDOW : job->head.npes;
        struct batch *batch;
        int           err = ask_for(first, end, 0, NULL, 0, ASK_NS_MAX, ASK_TIMEOUT_S, &batch);
        if (err) return err;
        for (int pe = first; pe < end; pe++) {
            if (!batch->asked[pe - first].is_there) add_to(missing_out, pe);
            else if (pe < job->head.pe) job->silent = true;
        }
        drop(batch);
    }
    return 0;
}

static void say_missing(const struct list *missing, double limit_s)
{
    bool several = missing->count > 1;
    shmemi_error("%s %s %s not arrived within %g s" WHY
                 "%s started by the launcher too, but has not come to this step of shmem_init, or its machine cannot be reached" FIX
                 "see what holds them up; POSTERN_INIT_TIMEOUT sets the limit (\"none\" waits for ever)",
                 several ? "PEs" : "PE", missing->text, several ? "have" : "has", limit_s, several ? "each was" : "it was");
}

/*
 * The fence has not come to its end in time. The lowest PE that is there says who is not; the others find one below themselves and are
 * quiet, so most of them ask little. They wait for that PE to end the job; if it does not, they say it after all (shmemi_pmix_job_say_missing).
 */
static int report_missing(bool has_cards, int64_t timeout_ns)
{
    struct list missing = {.used = 0};
    job->limit_s        = (double)timeout_ns / 1e9;
    job->silent         = false;
    if (has_cards) {
        int err = find_missing(true, &missing);
        if (err) return err;
    }
    if (job->silent) {
        shmemi_info("PEs have not arrived within %g s", job->limit_s);
    } else if (missing.count == 0) {
        shmemi_error("%s with the other PEs has not come to its end within %g s" WHY "%s" FIX
                     "look at the launcher's messages; POSTERN_INIT_TIMEOUT sets the limit (\"none\" waits for ever)",
                     has_cards ? "the exchange" : "a barrier", job->limit_s,
                     has_cards ? "all PEs have given their part, but the PMIx servers do not answer"
                               : "a PE has not come to it, or the PMIx servers do not answer");
    } else {
        say_missing(&missing, job->limit_s);
    }
    return -ETIMEDOUT;
}

void shmemi_pmix_job_say_missing(void)
{
    struct list missing = {.used = 0};
    if (find_missing(false, &missing) == 0 && missing.count > 0) say_missing(&missing, job->limit_s);
}

/* ---- exchanges ---- */

static int put_card(const void *mine, size_t bytes)
{
    SHMEMI_AUTO_FREE char *buffer = malloc(sizeof(struct shmemi_pmix_value_head) + SHMEMI_PMIX_VALUE_PIECE_BYTES);
    pmix_status_t          status = buffer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    for (uint32_t piece = 0; piece < shmemi_pmix_value_pieces(bytes) && status == PMIX_SUCCESS; piece++) {
        char         key[SHMEMI_PMIX_VALUE_KEY_BYTES];
        pmix_value_t value  = {.type = PMIX_BYTE_OBJECT};
        value.data.bo.bytes = buffer;
        value.data.bo.size  = shmemi_pmix_value_cut(job->round, piece, mine, bytes, buffer);
        shmemi_pmix_value_key(key, job->round, piece);
        status = shmemi_pmix_lib.put(PMIX_GLOBAL, key, &value);
    }
    if (status == PMIX_SUCCESS) status = shmemi_pmix_lib.commit();
    if (status == PMIX_SUCCESS) return 0;
    shmemi_error("could not give this PE's part of an exchange to PMIx: %s" WHY
                 "the launcher's server on this machine refused it or is gone" FIX "look at the launcher's messages",
                 shmemi_pmix_lib.error_string(status));
    return -ECONNRESET;
}

static int report_bad_card(const struct asked *asked)
{
    if (asked->is_there)
        shmemi_error("could not read what PE %d gave to an exchange" WHY "%s" FIX "start all PEs with the same libpostern",
                     asked->pe, asked->wrong);
    else
        shmemi_error("PE %d has given nothing to an exchange" WHY "it died or left in the middle of it (PMIx says: %s)" FIX
                     "look at the messages of that PE and of the launcher",
                     asked->pe, shmemi_pmix_lib.error_string(asked->status ? asked->status : PMIX_ERR_TIMEOUT));
    return -ECONNRESET;
}

/* A fence may end without the part of a PE that died in it, so each card is looked at. */
static int get_cards(const void *mine, size_t bytes, char *all)
{
    for (uint32_t piece = 0; piece < shmemi_pmix_value_pieces(bytes); piece++) {
        for (int first = 0; first < job->head.npes; first += WINDOW) {
            int           end = first + WINDOW < job->head.npes ? first + WINDOW : job->head.npes;
            struct batch *batch;
            int           err = ask_for(first, end, piece, all, bytes, CARD_NS_MAX, (int)(CARD_NS_MAX / 1000000000), &batch);
            if (err) return err;
            for (int pe = first; pe < end && !err; pe++)
                if (!batch->asked[pe - first].is_there || batch->asked[pe - first].wrong)
                    err = report_bad_card(&batch->asked[pe - first]);
            drop(batch);
            if (err) return err;
        }
    }
    memcpy(all + (size_t)job->head.pe * bytes, mine, bytes);
    return 0;
}

static int exchange(const void *mine, size_t bytes, void *all_out, int64_t timeout_ns)
{
    pmix_status_t status = PMIX_SUCCESS;
    int           err    = bytes > 0 ? put_card(mine, bytes) : 0;
    if (!err) err = call_fence(timeout_ns, &status);
    if (err == -ETIMEDOUT) return report_missing(bytes > 0, timeout_ns);
    if (err) return err;
    /* "Partial" is told where a PE left in the middle; the cards tell which. */
    if (status != PMIX_SUCCESS && !(status == PMIX_ERR_PARTIAL_SUCCESS && bytes > 0)) {
        shmemi_error("could not exchange with the other PEs: %s" WHY "a PE has died, or the launcher is gone" FIX
                     "look at the messages of the launcher",
                     shmemi_pmix_lib.error_string(status));
        return -ECONNRESET;
    }
    return bytes > 0 ? get_cards(mine, bytes, all_out) : 0;
}

static int gather_pmix(struct shmemb *b, const void *mine, size_t bytes, void *all_out, int64_t timeout_ns)
{
    size_t all_bytes;
    assert(b == &job->head && atomic_load(&job->is_open));
    assert(bytes == 0 || (mine != NULL && all_out != NULL));
    if (shmemi_pmix_job_is_forked()) {
        shmemi_error("cannot exchange with the other PEs" WHY "this process is a fork of PE %d" FIX
                     "call SHMEM routines in the process that called shmem_init",
                     b->pe);
        return -EPERM;
    }
    if (job->broken) return job->broken;
    if (!shmemi_mul_size(bytes, (size_t)b->npes, &all_bytes)) return -EOVERFLOW;
    job->round++;
    int err = exchange(mine, bytes, all_out, timeout_ns);
    if (err) job->broken = err; /* a fence may still be under way, and exchanges would no longer match */
    return err;
}

/* ---- joining ---- */

static int say_no_server(const char *what, pmix_status_t status)
{
    shmemi_error("could not join the job of a PMIx launcher (mpirun, srun, prterun): %s: %s" WHY
                 "this process has a launcher's variables (PMIX_RANK=%s, PMIX_NAMESPACE=%s), but its PMIx server does not answer as"
                 " expected: it is gone, or belongs to another container or user" FIX
                 "start the program again; without a launcher, unset PMIX_RANK or set POSTERN_BOOTSTRAP=self",
                 what, shmemi_pmix_lib.error_string(status), getenv("PMIX_RANK"), getenv("PMIX_NAMESPACE"));
    return -ECONNREFUSED;
}

/* A number that the server knows. PMIX_SUCCESS or why not. */
static pmix_status_t get_number(const pmix_proc_t *proc, const char *key, uint64_t *number_out)
{
    pmix_value_t *value  = NULL;
    pmix_status_t status = shmemi_pmix_lib.get(proc, key, NULL, 0, &value);
    if (status == PMIX_SUCCESS && !shmemi_pmix_value_number(value, number_out)) status = PMIX_ERR_TYPE_MISMATCH;
    shmemi_pmix_value_free(value);
    return status;
}

static void name_launcher(char *text, size_t bytes)
{
    char        own[24];
    const char *server = getenv("PMIX_VERSION"), *name = "a PMIx launcher";
    if (strncmp(job->me.nspace, "slurm.", 6) == 0) name = "srun";
    else if (strncmp(job->me.nspace, "prterun", 7) == 0) name = getenv("OMPI_VERSION") ? "mpirun" : "prterun";
    else if (strncmp(job->me.nspace, "prte", 4) == 0) name = "prun";
    else if (getenv("OMPI_COMM_WORLD_RANK")) name = "mpirun";
    snprintf(text, bytes, "%s (PMIx %.16s)", name, server ? server : shmemi_pmix_lib_version(own, sizeof own));
}

static int learn_who_we_are(void)
{
    uint64_t      npes, local_rank, local_size;
    pmix_status_t status = get_number(&job->all, PMIX_JOB_SIZE, &npes);
    if (status != PMIX_SUCCESS) return say_no_server("the number of PEs is not known", status);
    if (npes < 1 || npes > INT32_MAX || job->me.rank >= npes)
        return say_no_server("the numbers of PEs make no sense", PMIX_ERR_BAD_PARAM);
    if (get_number(&job->me, PMIX_LOCAL_RANK, &local_rank) != PMIX_SUCCESS || local_rank >= npes) local_rank = UINT64_MAX;
    if (get_number(&job->all, PMIX_LOCAL_SIZE, &local_size) != PMIX_SUCCESS || local_size > npes) local_size = 0;
    job->head = (struct shmemb){
        .ops        = &shmemb_pmix_ops,
        .pe         = (int)job->me.rank,
        .npes       = (int)npes,
        .local_rank = local_rank == UINT64_MAX ? -1 : (int)local_rank,
        .local_size = (int)local_size,
    };
    name_launcher(job->head.launcher, sizeof job->head.launcher);
    return 0;
}

/* Children that are programs of their own must not take themselves for this PE. */
static void mark_environment(void)
{
    char text[sizeof job->me.nspace + 48];
    snprintf(text, sizeof text, "%s:%u:%ld", job->me.nspace, job->me.rank, (long)getpid());
    setenv(SHMEMB_PMIX_MARK, text, 1);
}

/* Names of jobs may come again in another Slurm or on another day; where their launcher listens does not, while it runs. */
static void open_side(void)
{
    char        text[sizeof job->me.nspace + 200];
    const char *launcher = getenv("OMPI_MCA_orte_hnp_uri");
    if (!launcher) launcher = getenv("SLURM_STEP_LAUNCHER_PORT");
    snprintf(text, sizeof text, "%s %.190s", job->me.nspace, launcher ? launcher : "");
    int err = shmemi_pmix_side_open(text, job->head.pe);
    if (err) shmemi_debug("no notes to other PEs of this machine: %s", strerror(-err));
}

/* Static: PMIx may come back after we gave up. */
static struct {
    atomic_int    left;
    pmix_status_t status;
    pmix_proc_t   me;
} beginning;

static void *begin_pmix(void *unused)
{
    (void)unused;
    beginning.status = shmemi_pmix_lib.init(&beginning.me, NULL, 0);
    atomic_store_explicit(&beginning.left, 0, memory_order_release);
    shmemi_pmix_job_wake(job->answer_fd);
    return NULL;
}

/*
 * PMIx_Init with a deadline, in a thread: it has none of its own, and a server that is stopped, or that loses a message (Debian's mpirun was seen to,
 * when one process came while another one went), would keep it for ever.
 */
static int init_in_time(void)
{
    pthread_t thread;
    sigset_t  all, before;
    int64_t   deadline_ns = deadline_of(init_timeout_ns);
    atomic_store(&beginning.left, 1);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&thread, NULL, begin_pmix, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (err) begin_pmix(NULL);
    while (atomic_load_explicit(&beginning.left, memory_order_acquire) != 0) {
        if (deadline_ns >= 0 && shmemi_now_ns() >= deadline_ns) {
            pthread_detach(thread);
            return say_no_server("PMIx_Init does not come back", PMIX_ERR_TIMEOUT);
        }
        sleep_until(job->answer_fd, deadline_ns);
    }
    if (!err) pthread_join(thread, NULL);
    if (beginning.status != PMIX_SUCCESS) return say_no_server("PMIx_Init failed", beginning.status);
    job->me = beginning.me;
    return 0;
}

static int open_wakers(void)
{
    job->answer_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    job->note_fd   = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (job->answer_fd >= 0 && job->note_fd >= 0) return 0;
    int err = -errno;
    shmemi_error("could not open an eventfd: %s" FIX "raise the limit of open files (ulimit -n)", strerror(-err));
    return err;
}

static int join(void)
{
    int err = shmemi_pmix_lib_load(await_turn);
    if (!err && job->note_fd < 0) err = open_wakers();
    if (!err) err = init_in_time();
    if (err) return err;
    const char *name = getenv("PMIX_NAMESPACE");
    if (name && strcmp(name, job->me.nspace) != 0) { /* PMIx makes a job of one process where it finds no server */
        shmemi_pmix_lib.finalize(NULL, 0);
        return say_no_server("PMIx joined another job", PMIX_ERR_UNREACH);
    }
    job->all      = job->me;
    job->all.rank = PMIX_RANK_WILDCARD;
    err           = learn_who_we_are();
    if (err) {
        shmemi_pmix_lib.finalize(NULL, 0);
        return err;
    }
    job->owner  = getpid();
    job->joined = true;
    mark_environment();
    open_side();
    return shmemi_pmix_end_prepare();
}

static int open_pmix(struct shmemb **b_out)
{
    assert(!atomic_load(&job->is_open));
    if (!job->joined) {
        int err = join();
        if (err) return err;
    } else if (shmemi_pmix_job_is_forked()) {
        shmemi_error("cannot join the job as PE %d" WHY "this process is a fork of PE %d, which is process %ld" FIX
                     "call shmem_init in the process that the launcher started, or let the child exec another program",
                     job->head.pe, job->head.pe, (long)job->owner);
        return -EPERM;
    }
    shmemi_log_set_level(log_level);
    shmemi_log_set_pe(job->head.pe);
    job->life++;
    job->started = false;
    atomic_store(&job->is_leaving, false);
    atomic_store(&job->is_open, true);
    forget_wakes(job->note_fd);
    shmemi_pmix_end_take_signal();
    *b_out = &job->head;
    return 0;
}

static void close_pmix(struct shmemb *b, bool started)
{
    if (b == NULL || shmemi_pmix_job_is_forked()) return;
    assert(b == &job->head);
    if (!atomic_load(&job->is_open)) return;
    shmemi_pmix_end_give_signal_back();
    atomic_store(&job->fail_deadline_ns, 0);
    job->started = started;
    if (started && atomic_load(&job->is_leaving)) shmemi_pmix_end_tell_left();
    atomic_store(&job->is_open, false);
    shmemi_pmix_job_wake(job->note_fd);
}

/* ---- events ---- */

static void next_event_pmix(struct shmemb *b, struct shmemb_event *event_out)
{
    assert(b == &job->head);
    (void)b;
    atomic_store(&job->listening, true);
    while (atomic_load(&job->is_open)) {
        if (shmemi_pmix_end_look(event_out)) return; /* still listening: a second SIGTERM ends the process at once */
        sleep_until(job->note_fd, shmemi_pmix_end_deadline_ns());
    }
    atomic_store(&job->listening, false);
    *event_out = (struct shmemb_event){.kind = SHMEMB_EVENT_NONE};
}

const struct shmemb_ops shmemb_pmix_ops = {
    .name       = "pmix",
    .open       = open_pmix,
    .leaving    = shmemi_pmix_end_leaving,
    .close      = close_pmix,
    .allgather  = gather_pmix,
    .abort      = shmemi_pmix_end_abort,
    .next_event = next_event_pmix,
};

__attribute__((visibility("default"))) const struct shmemb_ops *shmemb_pmix_table(const struct shmemb_pmix_host *host)
{
    if (strcmp(host->version, POSTERN_VERSION) != 0 || host->head_bytes != sizeof(struct shmemb)) {
        shmemi_error("cannot use the module " SHMEMB_PMIX_FILE WHY "it was built for version " POSTERN_VERSION
                     " of the library, which is %s" FIX "install library and modules together",
                     host->version);
        return NULL;
    }
    log_level       = host->log_level;
    await_turn      = host->await_turn;
    init_timeout_ns = host->init_timeout_ns;
    if (host->is_quiet) shmemi_log_set_level((enum shmemi_log_level) - 1);
    else shmemi_log_set_level(log_level);
    return &shmemb_pmix_ops;
}
