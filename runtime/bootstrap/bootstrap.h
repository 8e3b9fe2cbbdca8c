/* SPDX-License-Identifier: Apache-2.0
 *
 * Life before a network: who am I, how many are we, exchange of small cards, and the launcher's word when the job must end.
 *
 * A bootstrap is one const table. shmemi_bootstrap_open() tries them in order: the one named by POSTERN_BOOTSTRAP, else each
 * whose open() does not answer -ENOENT ("I am not what started this process"). `local` speaks to oshrun over two
 * inherited sockets, `self` is a job of one PE.
 *
 * Threads: allgather, barrier and close are called by one thread at a time. next_event is called by the service thread only, and
 * may run beside any other slot. abort may be called from any thread.
 */
#ifndef SHMEMB_BOOTSTRAP_H
#define SHMEMB_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shmemb;

enum shmemb_event_kind {
    SHMEMB_EVENT_NONE,    /* the wait was interrupted (close); ask no more                              */
    SHMEMB_EVENT_END,     /* a PE called shmem_global_exit(status): flush and exit with status            */
    SHMEMB_EVENT_FAILURE, /* a PE or the launcher died: say what this PE waits for, flush, exit with status */
};

struct shmemb_event {
    enum shmemb_event_kind kind;
    int                    status;    /* exit status for this process                        */
    char                   text[192]; /* who and why, for the log; may be empty               */
};

struct shmemb_ops {
    const char *name;

    /* 0 and *b_out; -ENOENT: not started this way; another negative errno: the reason has been logged. */
    int (*open)(struct shmemb **b_out);

    /*
     * The PE goes into the barrier of its last finalize, after so many barriers of all PEs. Every PE has said the same when the first
     * comes out, or they do not make the same collective calls; the launcher then ends the job instead of letting the others wait.
     * exit_status: the PE is in exit() with that status. Not 0: it has failed, and the launcher bounds how long it waits for the others.
     */
    void (*leaving)(struct shmemb *b, uint64_t barriers, int exit_status);

    /*
     * The PE leaves the job in good order: the launcher no longer counts its exit as a failure. Unblocks next_event.
     * started: false where the start of the job failed, which is logged already: then the launcher says nothing about its exit status.
     * Frees b; a later open() joins the same job again (shmem_init after the last shmem_finalize), once next_event has returned.
     */
    void (*close)(struct shmemb *b, bool started);

    /*
     * Every PE gives bytes (the same number on all) and gets npes * bytes in order of PE.
     * 0; -ETIMEDOUT: an error naming the missing PEs has been logged; -ECONNRESET: the launcher is gone (logged).
     * timeout_ns < 0: no limit. bytes 0 is a barrier.
     */
    int (*allgather)(struct shmemb *b, const void *mine, size_t bytes, void *all_out, int64_t timeout_ns);

    /* The whole job ends with this status (global_exit, or a fatal error when reason is not NULL). Returns; the caller exits. */
    void (*abort)(struct shmemb *b, int status, const char *reason);

    /* Block until the launcher has something to say or close() is called. */
    void (*next_event)(struct shmemb *b, struct shmemb_event *event_out);
};

/* Identity, filled by open(). A bootstrap's own struct begins with this. */
struct shmemb {
    const struct shmemb_ops *ops;
    int                      pe, npes;               /* world numbers                                        */
    int                      local_rank, local_size; /* as the launcher counts them: a hint                   */
    char                     launcher[48];           /* what started the job, for the report: "oshrun"          */
};

int shmemi_bootstrap_open(struct shmemb **b_out);

/* A line of the report for each bootstrap that needs a library: could a job of its launchers be joined here? */
void shmemi_bootstrap_survey(void);

extern const struct shmemb_ops shmemb_local_ops;
extern const struct shmemb_ops shmemb_self_ops;

#endif
