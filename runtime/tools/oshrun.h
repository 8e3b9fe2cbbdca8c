/* SPDX-License-Identifier: Apache-2.0
 *
 * oshrun: what its files share. One process, one thread, one epoll loop; no sleeps.
 *
 *   oshrun.c         options, help, the order of a run
 *   oshrun_bind.c    which PE runs on which processors
 *   oshrun_spawn.c   limits, environment, starting the PEs
 *   oshrun_guard.c   the process that cleans up if oshrun is killed
 *   oshrun_loop.c    events: signals, sockets, output, timers
 *   oshrun_wire.c    the PEs' exchanges and notices (runtime/base/launch_wire.h)
 *   oshrun_output.c  output of the PEs, line by line
 *   oshrun_end.c     which end of a PE is a failure, and how a job is brought to its end
 *
 * A job on several machines is handed over to another launcher before any of this: oshrun_engine.h.
 */
#ifndef OSHRUN_H
#define OSHRUN_H

#include "runtime/base/attr.h"
#include "runtime/base/launch_wire.h"

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum {
    OSHRUN_EXIT_FAILED         = 1,
    OSHRUN_EXIT_USAGE          = 2,
    OSHRUN_EXIT_TIMEOUT        = 124,
    OSHRUN_EXIT_NOT_EXECUTABLE = 126,
    OSHRUN_EXIT_NOT_FOUND      = 127
};

enum oshrun_bind { OSHRUN_BIND_AUTO, OSHRUN_BIND_CORE, OSHRUN_BIND_NUMA, OSHRUN_BIND_NONE };

struct oshrun_options {
    int              npes;
    bool             npes_given;
    bool             tag_output;
    int64_t          timeout_ns; /* 0: none                          */
    enum oshrun_bind bind;
    const char     **env; /* K=V, in the order given          */
    size_t           env_count;
    char           **program; /* its argv                         */

    /* Other machines; all as they were given, NULL: not. */
    const char *hosts, *engine, *engine_args, *rsh_agent, *timeout_text;
    bool        oversubscribe, dry_run;
};

/* ---- oshrun_bind.c ------------------------------------------------------------------------------------------------------- */

/* A set of processors of any size, as sched_setaffinity takes it. */
struct oshrun_cpus {
    cpu_set_t *set;
    size_t     bytes;
};

struct oshrun_place {
    struct oshrun_cpus cpus;     /* set NULL: not bound                                  */
    char               text[96]; /* for POSTERN_BINDING: "core 3 (cpus 3,67; node 0)"     */
};

struct oshrun_plan {
    struct oshrun_place *places; /* one per PE */
    int                  npes;
};

/* The processors this process may use. 0, or a negative errno. Free with oshrun_bind_free_cpus. */
int  oshrun_bind_allowed(struct oshrun_cpus *cpus_out);
void oshrun_bind_free_cpus(struct oshrun_cpus *cpus);
/*
 * Decide a place for every PE. sys_root is "/sys", or a recorded tree. note_out (at least 160 bytes) tells what is less than
 * asked, or is empty. 0 or -ENOMEM.
 */
int  oshrun_bind_plan(const char *sys_root, const struct oshrun_cpus *allowed, enum oshrun_bind bind, int npes,
                      struct oshrun_plan *plan_out, char *note_out, size_t note_bytes);
void oshrun_bind_free_plan(struct oshrun_plan *plan);

/* ---- oshrun_output.c ----------------------------------------------------------------------------------------------------- */

struct oshrun_stream;

/* Where lines go: oshrun's stdout or stderr, or both where they are one file. */
struct oshrun_sink {
    int                   fd;
    bool                  is_terminal, is_limited; /* limited: a pipe or socket, where a big write could block    */
    bool                  is_broken;               /* the reader is gone, or writing failed                       */
    int                   error;                   /* why, if it is to be told: an errno; 0: nothing to tell      */
    bool                  is_waiting;              /* registered for EPOLLOUT                                     */
    char                 *queue;
    size_t                start, used, room; /* queue[start, start+used) waits to be written                */
    struct oshrun_stream *open_line;         /* whose unfinished line was written last, or NULL             */
};

/* stdout or stderr of one PE. */
struct oshrun_stream {
    int                 fd; /* -1: at its end */
    int                 pe;
    bool                is_paused; /* its sink is full, so it is not read  */
    bool                in_line;   /* a part of the current line was passed on */
    struct oshrun_sink *sink;
    char               *data;
    size_t              used, room; /* a line without its end, so far       */
    int64_t             partial_ns; /* when its first byte came             */
};

struct oshrun_output {
    struct oshrun_sink  sinks[2];
    struct oshrun_sink *out, *err; /* may be the same */
    bool                tag;
};

void oshrun_output_open(struct oshrun_output *output, bool tag);
/* Take about bytes_max of what the PE has written, without waiting. False once the stream is at its end (and closed). */
bool oshrun_output_read(struct oshrun_output *output, struct oshrun_stream *stream, size_t bytes_max);
/* The stream will bring no more: pass on a last line without a newline, close it. */
void oshrun_output_finish(struct oshrun_output *output, struct oshrun_stream *stream);
/* On a terminal: pass on a part of a line that has waited long enough. Returns when to look again; -1: no need. */
int64_t oshrun_output_show_partial(struct oshrun_output *output, struct oshrun_stream *stream, int64_t now_ns);
/* Write what can be written without waiting. True when nothing is left. */
bool oshrun_output_flush(struct oshrun_sink *sink);
bool oshrun_output_is_full(const struct oshrun_sink *sink);
/* A message of oshrun itself, between whole lines of the PEs. Format as in log.h, no newline at its end. */
void oshrun_output_say(struct oshrun_output *output, const char *format, ...) SHMEMI_PRINTF(2, 3);

/* ---- the job ------------------------------------------------------------------------------------------------------------- */

struct oshrun_pe {
    int   number;
    pid_t pid; /* what oshrun started; not reaped before the job's end, so that its process group keeps its number */
    bool  exited;
    bool  judge_later; /* within one look at all PEs  */
    bool  aborted;     /* it ended the job itself     */
    int   status;      /* 128+signal where a signal ended it */

    struct oshrun_stream out, err;

    /* Membership, as its notices tell. */
    int     notice_fd; /* -1: closed */
    bool    joined;    /* between HELLO and LEAVE                                           */
    bool    ever_joined;
    bool    unstarted;  /* its last start failed, and why has been printed                   */
    int     announced;  /* how often it went into the barrier of its last finalize           */
    int     barriers;   /* how many barriers it had made when it announced that last         */
    int     failing;    /* not 0: it is in exit() with that status and waits there for the others */
    int     finalized;  /* how often it came out of it                                       */
    bool    is_behind;  /* within one look at all PEs                                        */
    pid_t   member_pid; /* who said HELLO: pid, or a program that pid started                */
    int     member_fd;  /* pidfd of member_pid where that is not pid, else -1                */
    int64_t lost_ns;    /* when member_pid ended without LEAVE, or failing or unstarted; 0: none of these */

    /* Exchange. */
    int                call_fd;
    struct launch_call request;
    size_t             request_got;  /* bytes of the head and what follows it that have come */
    bool               refused;      /* it was told that no exchange will come to an end  */
    bool               waiting;      /* its GATHER is complete, its answer not yet sent      */
    bool               receiving;    /* a part of the answer is still to be sent             */
    bool               room_watched; /* the rest goes when its socket has room */
    size_t             answer_sent;
};

struct oshrun_exchange {
    char              *collect; /* npes * bytes of the round that is being collected */
    size_t             bytes;
    int                arrived, started;
    struct launch_call answer_head;
    char              *answer;
    int                answer_left; /* PEs that have not got all of it */
    bool               was_asked;   /* somebody has been told who is missing */
};

struct oshrun_job {
    const struct oshrun_options *options;
    int                          npes;
    struct oshrun_pe            *pes;
    int                          running;       /* PEs whose process has not ended */
    char                         program[4096]; /* path of the executable */
    struct oshrun_plan           plan;
    struct oshrun_output         output;
    struct oshrun_exchange       exchange;
    struct rlimit                files_limit; /* as it was when oshrun started; the PEs get it back */
    sigset_t                     signals_before;
    struct sigaction             pipe_before;
    int                          slots[2]; /* descriptor numbers of call and notice in every PE   */

    int                        epoll_fd, signal_fd;
    pid_t                      guard_pid;
    int                        guard_fd;
    struct oshrun_guard_table *guard;

    /* stdin of PE 0, where oshrun's is a terminal */
    int     input_fd; /* write end; -1: PE 0 has oshrun's own stdin, or its end was reached */
    char    input[4096];
    size_t  input_used;
    bool    input_watched;  /* the terminal is            */
    bool    input_waits;    /* PE 0's pipe is full        */
    int64_t input_again_ns; /* in the background: look again then */

    bool look_for_ended;    /* SIGCHLD has come */
    int  finalized_max;     /* how often some PE has come out of the barrier of its last finalize */
    int  finalized_checked; /* up to here every PE is known to have gone into it                  */

    /* the end */
    int     status;               /* of oshrun                                                          */
    bool    ending;               /* the PEs have been told to end                                      */
    int64_t term_ns;              /* then TERM; 0: not planned                                          */
    int64_t kill_ns;              /* then KILL                                                          */
    int64_t timeout_at_ns;        /* --timeout                                                          */
    int64_t patience_ns;          /* after a signal from the user: then KILL                            */
    int     user_signal;          /* the last one of INT TERM HUP QUIT; 0: none                         */
    int     failed_after_leaving; /* PEs                                                         */
    bool    output_given_up;      /* nobody reads it and the user wants to leave                      */
};

/* ---- oshrun_spawn.c ------------------------------------------------------------------------------------------------------ */

/* 0, or the exit status after an error message. */
int oshrun_spawn_find_program(struct oshrun_job *job);
int oshrun_spawn_check_limits(struct oshrun_job *job);
int oshrun_spawn_all(struct oshrun_job *job);

/* ---- oshrun_guard.c ------------------------------------------------------------------------------------------------------ */

/* Shared between oshrun, its guard and, for a moment, each new PE, which enters itself before it runs the program. */
struct oshrun_guard_table {
    int            npes;
    volatile pid_t groups[]; /* 0: not started */
};

int  oshrun_guard_start(struct oshrun_job *job);
void oshrun_guard_dismiss(struct oshrun_job *job);
void oshrun_guard_stop(struct oshrun_job *job);

/* ---- oshrun_wire.c ------------------------------------------------------------------------------------------------------- */

void oshrun_wire_read_call(struct oshrun_job *job, struct oshrun_pe *pe);
void oshrun_wire_write_call(struct oshrun_job *job, struct oshrun_pe *pe);
void oshrun_wire_read_notices(struct oshrun_job *job, struct oshrun_pe *pe);
void oshrun_wire_send_notice(struct oshrun_pe *pe, enum launch_notice_kind kind, int status, const char *text);
/* No exchange will come to its end any more: tell those who wait for one. */
void oshrun_wire_end_exchange(struct oshrun_job *job);
/* Where a PE has left by shmem_finalize: have all gone into that one? If not, the job ends. */
void oshrun_wire_check_finalize(struct oshrun_job *job);
/* A PE that ended can never arrive in the exchange that others wait in: that PE, or NULL. */
const struct oshrun_pe *oshrun_wire_never_arrives(const struct oshrun_job *job);

/* ---- oshrun_end.c -------------------------------------------------------------------------------------------------------- */

/* Tell all PEs but one to end, and plan TERM and KILL. The first call decides; later ones do nothing. */
void    oshrun_end_begin(struct oshrun_job *job, enum launch_notice_kind kind, int status, const struct oshrun_pe *but,
                         const char *text);
void    oshrun_end_reap(struct oshrun_job *job); /* look which PEs have ended */
void    oshrun_end_check_exchange(struct oshrun_job *job);
void    oshrun_end_abort(struct oshrun_job *job, struct oshrun_pe *pe, int status, const char *reason);
void    oshrun_end_member_lost(struct oshrun_job *job, struct oshrun_pe *pe);
void    oshrun_end_signal(struct oshrun_job *job, int signal_number);
void    oshrun_end_timers(struct oshrun_job *job, int64_t now_ns);
int64_t oshrun_end_next_timer(const struct oshrun_job *job); /* -1: none */
void    oshrun_end_kill_all(struct oshrun_job *job, int signal_number);
/* After the last PE, before the last output: a line for the failures that had none. */
void oshrun_end_tell_rest(struct oshrun_job *job);
/* After the last PE: end what is left of the process groups where the job failed, and reap. */
void oshrun_end_finish(struct oshrun_job *job);

/* ---- oshrun_loop.c ------------------------------------------------------------------------------------------------------- */

enum oshrun_source {
    OSHRUN_SIGNALS,
    OSHRUN_CALL,
    OSHRUN_NOTICE,
    OSHRUN_OUT,
    OSHRUN_ERR,
    OSHRUN_MEMBER,
    OSHRUN_SINK,
    OSHRUN_TERMINAL,
    OSHRUN_INPUT,
};

int  oshrun_loop_open(struct oshrun_job *job);
void oshrun_loop_watch(struct oshrun_job *job, int fd, uint32_t events, enum oshrun_source source, int index);
void oshrun_loop_change(struct oshrun_job *job, int fd, uint32_t events, enum oshrun_source source, int index);
void oshrun_loop_unwatch(struct oshrun_job *job, int fd);
/* Read what is there on both streams of a PE. */
void oshrun_loop_drain(struct oshrun_job *job, struct oshrun_pe *pe);
void oshrun_loop_run(struct oshrun_job *job);

#endif
