/* SPDX-License-Identifier: Apache-2.0
 *
 * Handing a job over to another launcher, an engine: for jobs on several machines. The engine takes oshrun's place (exec), so exit
 * status, signals, input and output are the engine's.
 *
 *   oshrun_engine.c          here or elsewhere? --dry-run, and the exec
 *   oshrun_engine_hosts.c    --hosts: the list or the file
 *   oshrun_engine_find.c     which engine is there, and does it speak PMIx
 *   oshrun_engine_command.c  the words of its command line
 *   oshrun_engine_limit.c    the engine under --timeout: then oshrun stays as its parent
 */
#ifndef OSHRUN_ENGINE_H
#define OSHRUN_ENGINE_H

#include "runtime/tools/oshrun.h"

/* ---- oshrun_engine_hosts.c ----------------------------------------------------------------------------------------------- */

struct oshrun_host {
    char *name;    /* as the user wrote it; an IPv6 address without its brackets */
    bool  is_ipv6; /* an address                                                 */
    int   slots;
};

struct oshrun_hosts {
    struct oshrun_host *hosts; /* each name once, in the order given */
    size_t              count;
    int                 slots; /* of all */
};

/* A list (a,b:2) or the name of a file. 0, or the exit status after an error message. */
int oshrun_engine_hosts_read(const char *given, struct oshrun_hosts *hosts_out);
/* Does every one of them name this machine? */
bool oshrun_engine_hosts_are_here(const struct oshrun_hosts *hosts);

/* ---- oshrun_engine_find.c ------------------------------------------------------------------------------------------------ */

enum oshrun_engine_kind {
    OSHRUN_ENGINE_ORTE,  /* mpirun of Open MPI up to 4                              */
    OSHRUN_ENGINE_PRRTE, /* prterun, and mpirun of Open MPI 5, which is prterun inside */
    OSHRUN_ENGINE_SLURM, /* srun                                                    */
    OSHRUN_ENGINE_HYDRA, /* mpiexec of MPICH, where it speaks PMIx                  */
};

struct oshrun_engine {
    enum oshrun_engine_kind kind;
    const char             *program;  /* as it is run: a name in PATH or a path */
    char                    pmix[32]; /* Slurm: the plugin                      */
};

/* 0, or the exit status after an error message. */
int oshrun_engine_find(const char *wanted, bool in_slurm, struct oshrun_engine *engine_out);

/* ---- oshrun_engine_command.c --------------------------------------------------------------------------------------------- */

/* A list of words that ends with NULL. A zeroed one is empty. */
struct oshrun_words {
    char **words;
    size_t count;
};

struct oshrun_command {
    struct oshrun_words set;   /* K=V for its environment                                              */
    struct oshrun_words unset; /* names to be taken out of it                                          */
    struct oshrun_words argv;
    struct oshrun_words host_lines;   /* of a file of hosts; the word of argv that names it has this index: */
    size_t              host_file_at; /* 0: there is no such file                                         */
};

/*
 * hosts may be empty: then the engine decides where. npes 0: it decides how many.
 * 0, or the exit status after an error message.
 */
int oshrun_engine_command_build(const struct oshrun_options *options, const struct oshrun_engine *engine,
                                const struct oshrun_hosts *hosts, int npes, struct oshrun_command *command_out);
/* The same job without an engine, as oshrun would be called for it. */
void oshrun_engine_command_local(const struct oshrun_options *options, struct oshrun_command *command_out);
/* Write it as a line for a shell. */
void oshrun_engine_command_print(const struct oshrun_options *options, const struct oshrun_command *command);
/* Memory that there is none of ends oshrun. */
void oshrun_engine_command_add(struct oshrun_words *words, const char *format, ...) SHMEMI_PRINTF(2, 3);

/* ---- oshrun_engine_limit.c ----------------------------------------------------------------------------------------------- */

/* Run the engine to its end, or to that of the time. The exit status of oshrun. */
int oshrun_engine_limit_run(char **argv, int64_t timeout_ns);

/* ---- oshrun_engine.c ----------------------------------------------------------------------------------------------------- */

/* Whoever starts the job: OSHRUN_ENGINE_HERE, then oshrun itself does, with options->npes PEs. Else the exit status of oshrun. */
enum { OSHRUN_ENGINE_HERE = -1 };
int oshrun_engine_start(struct oshrun_options *options);

#endif
