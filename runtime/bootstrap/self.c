/* SPDX-License-Identifier: Apache-2.0
 *
 * A job of one PE: a program that somebody started by hand.
 *
 * Where another launcher has left its marks in the environment this would be wrong in silence: four processes, each of which
 * believes that it is alone. So a mark that speaks of more than one process, or does not say of how many, is an error.
 * POSTERN_BOOTSTRAP=self overrides.
 */
#include "runtime/bootstrap/bootstrap.h"

#include "runtime/base/log.h"
#include "runtime/base/options.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The one job of this process. Static, so that a service thread which asks once more after close() meets valid memory. */
struct self {
    struct shmemb   head;
    pthread_mutex_t lock;
    pthread_cond_t  closed;
    bool            is_open;
};
static struct self only = {.lock = PTHREAD_MUTEX_INITIALIZER, .closed = PTHREAD_COND_INITIALIZER};

#define SLURM_FIX                                                                                                                  \
    "start it with \"srun --mpi=pmix\", or with \"oshrun program\" in the allocation; or set POSTERN_BOOTSTRAP=self if one PE is " \
    "meant"

/* What a launcher writes for each of its processes. NULL size: it does not say how many there are. */
struct mark {
    const char *launcher, *rank, *size;
    bool        size_speaks; /* the size alone means that we were launched; false where an allocation's shell has it too */
    const char *fix;         /* NULL: the usual one */
};
static const struct mark marks[] = {
    {"Open MPI (mpirun)", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", true, NULL},
    {"a PMI launcher (mpiexec)", "PMI_RANK", "PMI_SIZE", true, NULL},
    {"MVAPICH (mpirun_rsh)", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", true, NULL},
    {"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", true, NULL},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", true, NULL},
    {"PALS (mpiexec, aprun)", "PALS_RANKID", "PALS_SIZE", false, NULL},
    {"Slurm (srun)", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", false, SLURM_FIX},
    {"Slurm (srun)", "SLURM_PROCID", "SLURM_NTASKS", false, SLURM_FIX},
    {"a PMIx launcher", "PMIX_RANK", NULL, false, NULL},
};

/* Number of processes as the text says; -1: no text, or none that makes sense. */
static long parse_count(const char *text)
{
    char *end = NULL;
    if (text == NULL || *text == '\0') return -1;
    long count = strtol(text, &end, 10);
    return *end == '\0' && count > 0 ? count : -1;
}

/* 0, or -EINVAL after an error message: this process has a launcher that we do not speak to. */
static int refuse_foreign_launcher(void)
{
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const struct mark *mark = &marks[i];
        const char        *rank = getenv(mark->rank);
        const char        *size = mark->size != NULL ? getenv(mark->size) : NULL;
        if (rank == NULL && !(size != NULL && mark->size_speaks)) continue;

        long count = parse_count(size);
        if (count == 1) return 0; /* launchers set several marks; one that says "alone" settles it */
        if (count < 0 && i + 1 < sizeof marks / sizeof marks[0] && size == NULL && strcmp(marks[i + 1].rank, mark->rank) == 0)
            continue; /* the next row knows another name for the size */

        char many[64];
        if (count > 0) snprintf(many, sizeof many, "it runs %ld processes", count);
        else snprintf(many, sizeof many, "it does not say how many processes it runs");
        shmemi_error("cannot join the job of %s" WHY
                     "%s=%s is in the environment and %s; alone, each of them would be a job of one PE" FIX "%s",
                     mark->launcher, rank != NULL ? mark->rank : mark->size, rank != NULL ? rank : size, many,
                     mark->fix
                         ? mark->fix
                         : "start the program with \"oshrun -n N program\"; or set POSTERN_BOOTSTRAP=self if one PE is meant");
        return -EINVAL;
    }
    return 0;
}

static int open_alone(struct shmemb **b_out)
{
    if (shmemi_options.bootstrap != SHMEMI_BOOTSTRAP_SELF) {
        int err = refuse_foreign_launcher();
        if (err) return err;
    }
    only.head = (struct shmemb){.ops = &shmemb_self_ops, .pe = 0, .npes = 1, .local_rank = 0, .local_size = 1, .launcher = "hand"};
    pthread_mutex_lock(&only.lock);
    only.is_open = true;
    pthread_mutex_unlock(&only.lock);
    *b_out = &only.head;
    return 0;
}

static void leaving_alone(struct shmemb *b, uint64_t barriers, int exit_status)
{
    (void)exit_status;
    (void)b;
    (void)barriers;
}

static void close_alone(struct shmemb *b, bool started)
{
    (void)started;
    if (b == NULL) return;
    pthread_mutex_lock(&only.lock);
    only.is_open = false;
    pthread_cond_broadcast(&only.closed);
    pthread_mutex_unlock(&only.lock);
}

static int gather_alone(struct shmemb *b, const void *mine, size_t bytes, void *all_out, int64_t timeout_ns)
{
    (void)b;
    (void)timeout_ns;
    if (bytes > 0) memmove(all_out, mine, bytes);
    return 0;
}

/* The caller exits, and there is nobody else. */
static void abort_alone(struct shmemb *b, int status, const char *reason)
{
    (void)b;
    (void)status;
    if (reason != NULL && *reason != '\0') shmemi_error("the job ends: %s", reason);
}

static void wait_for_close(struct shmemb *b, struct shmemb_event *event_out)
{
    (void)b;
    pthread_mutex_lock(&only.lock);
    while (only.is_open) pthread_cond_wait(&only.closed, &only.lock);
    pthread_mutex_unlock(&only.lock);
    *event_out = (struct shmemb_event){.kind = SHMEMB_EVENT_NONE};
}

const struct shmemb_ops shmemb_self_ops = {
    .name       = "self",
    .open       = open_alone,
    .leaving    = leaving_alone,
    .close      = close_alone,
    .allgather  = gather_alone,
    .abort      = abort_alone,
    .next_event = wait_for_close,
};
