/* SPDX-License-Identifier: Apache-2.0
 *
 * The membership of this process in a PMIx job, and how it ends. Shared by the files of the module.
 *
 * PMIx is begun at the first shmem_init and ended at exit(), not at shmem_finalize: then a later shmem_init joins the same job again,
 * which PMIx itself does not allow for reliably (a fence that starts while another PE comes back may end without it).
 */
#ifndef SHMEMI_PMIX_JOB_H
#define SHMEMI_PMIX_JOB_H

#include "runtime/bootstrap/bootstrap.h"

#include <pmix.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/* What ends this process, as it was first heard. */
enum shmemi_pmix_job_ending {
    SHMEMI_PMIX_JOB_GOES_ON,
    SHMEMI_PMIX_JOB_ENDED_HERE,      /* abort() was called: this PE tells the others                 */
    SHMEMI_PMIX_JOB_ENDED_BY_PEER,   /* a note of another PE                                         */
    SHMEMI_PMIX_JOB_ENDED_BY_EVENT,  /* PMIx tells of a death                                        */
    SHMEMI_PMIX_JOB_ENDED_BY_SIGNAL, /* SIGTERM: the launcher ends the job                           */
    SHMEMI_PMIX_JOB_ENDED_ALONE,     /* the launcher is gone                                         */
};

struct shmemi_pmix_job {
    struct shmemb   head;
    pmix_proc_t     me, all;            /* all: every rank of the job                                                */
    bool            joined;             /* PMIx_Init has been called, and not PMIx_Finalize                          */
    pid_t           owner;              /* the process that joined                                                   */
    uint32_t        life;               /* how many times open() was called                                          */
    uint32_t        round;              /* number of the last exchange                                               */
    int             broken;             /* a negative errno after which no exchange can work                         */
    bool            silent;             /* another PE says what is wrong                                             */
    double          limit_s;            /* of the exchange that has not come to its end                              */
    bool            started;            /* close() was told so; while open, next_event has been called               */
    int             answer_fd, note_fd; /* eventfds: PMIx has answered; there is something for next_event */
    atomic_bool     is_open, is_leaving;
    atomic_bool     listening; /* a thread is in next_event: SIGTERM is for it                      */
    atomic_bool     got_term;
    _Atomic int64_t fail_deadline_ns; /* 0: none. Else: a PE that fails waits for the others no longer     */
    int             fail_status;
    uint64_t        barriers;

    pthread_mutex_t             lock; /* of what follows */
    enum shmemi_pmix_job_ending ending;
    bool                        everybody_knows; /* all PEs have been told, so each exits by itself */
    struct shmemb_event         event;
    bool                        event_taken;
};
extern struct shmemi_pmix_job shmemi_pmix_job;

/* true in a child that a PE has forked: it must not speak for the PE. */
bool shmemi_pmix_job_is_forked(void);

/* Wake who waits for answers of PMIx, or in next_event. From any thread and from signal handlers. */
void shmemi_pmix_job_wake(int fd);

/*
 * Call a PMIx fence without data; it ends when all PEs have called it. 0, -ETIMEDOUT, or another negative errno. Only where no other
 * fence of this PE is under way.
 */
int shmemi_pmix_job_meet(int64_t timeout_ns);

/* After an exchange that timed out: ask once more who is not there, and say so. */
void shmemi_pmix_job_say_missing(void);

#endif
