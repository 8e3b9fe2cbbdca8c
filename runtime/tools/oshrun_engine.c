/* SPDX-License-Identifier: Apache-2.0
 *
 * Where does the job run? On this machine oshrun starts it itself. Otherwise another launcher takes over:
 *
 *   --engine NAME          whatever was named; "local" is oshrun itself
 *   --hosts                this machine only: local. Else the first engine that is there
 *   a Slurm allocation     of several nodes, or of another machine than this one: srun, else the next engine
 *   else                   local
 *
 * A task of a Slurm step that has several is local too: all of them run oshrun, and each means a job of its own.
 */
#include "runtime/tools/oshrun_engine.h"

#include "runtime/base/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- the choice ---------------------------------------------------------------------------------------------------------- */

/* A number that Slurm has put into the environment, or 0. */
static int slurm_number(const char *name, const char *old_name)
{
    const char *text = getenv(name);
    if (text == NULL && old_name != NULL) text = getenv(old_name);
    char *end;
    long  value = text != NULL ? strtol(text, &end, 10) : 0;
    return text != NULL && end != text && *end == '\0' && value > 0 && value <= LAUNCH_NPES_MAX ? (int)value : 0;
}

static bool is_in_slurm(void)
{
    return getenv("SLURM_JOB_ID") != NULL || getenv("SLURM_JOBID") != NULL;
}

static bool is_one_of_many_tasks(void)
{
    return getenv("SLURM_STEP_ID") != NULL && slurm_number("SLURM_STEP_NUM_TASKS", NULL) > 1;
}

/* salloc gives a shell on the machine where it was called, which is none of the allocation's; only there SLURMD_NODENAME is not set. */
static bool is_slurm_job_here(void)
{
    return slurm_number("SLURM_JOB_NUM_NODES", "SLURM_NNODES") == 1 && getenv("SLURMD_NODENAME") != NULL;
}

static bool is_local(const struct oshrun_options *options, const struct oshrun_hosts *hosts)
{
    if (options->engine != NULL) return strcmp(options->engine, "local") == 0;
    if (options->hosts != NULL) return oshrun_engine_hosts_are_here(hosts);
    return !is_in_slurm() || is_one_of_many_tasks() || is_slurm_job_here();
}

/* ---- numbers ------------------------------------------------------------------------------------------------------------- */

/* 0, or the exit status after an error message. */
static int check_slots(const struct oshrun_options *options, const struct oshrun_hosts *hosts)
{
    if (!options->npes_given || options->npes <= hosts->slots || options->oversubscribe) return 0;
    shmemi_error("cannot start %d PEs on %d slot%s" WHY
                 "--hosts names %zu host%s with %d slot%s together; a host without a number has one" FIX
                 "give hosts more slots (NAME:8), or add --oversubscribe",
                 options->npes, hosts->slots, hosts->slots == 1 ? "" : "s", hosts->count, hosts->count == 1 ? "" : "s",
                 hosts->slots, hosts->slots == 1 ? "" : "s");
    return OSHRUN_EXIT_USAGE;
}

/* How many PEs, where -n does not tell: all slots; in an allocation as many as its tasks. */
static void choose_local_npes(struct oshrun_options *options, const struct oshrun_hosts *hosts)
{
    if (options->npes_given) return;
    if (options->hosts != NULL) {
        options->npes = hosts->slots;
    } else if (options->engine == NULL && is_in_slurm() && !is_one_of_many_tasks()) {
        int tasks = slurm_number("SLURM_NTASKS", "SLURM_NPROCS");
        if (tasks > 0) options->npes = tasks;
    }
}

/* ---- the hand-over ------------------------------------------------------------------------------------------------------- */

/* The lines as a file without a name, which lives as long as the engine has it open. Who opens its path reads from the beginning. */
static int open_host_file(struct oshrun_command *command)
{
    if (command->host_file_at == 0) return 0;
    int fd = memfd_create("hosts", 0);
    for (size_t i = 0; fd >= 0 && i < command->host_lines.count; i++) dprintf(fd, "%s\n", command->host_lines.words[i]);
    if (fd < 0) return errno;
    char *path = NULL;
    if (asprintf(&path, "/dev/fd/%d", fd) < 0) return ENOMEM;
    free(command->argv.words[command->host_file_at]);
    command->argv.words[command->host_file_at] = path;
    return 0;
}

/* Returns with the exit status: after an error message, or where --timeout makes oshrun wait for the engine's end. */
static int become_engine(const struct oshrun_options *options, struct oshrun_command *command)
{
    for (size_t i = 0; i < command->unset.count; i++) unsetenv(command->unset.words[i]);
    for (size_t i = 0; i < command->set.count; i++) putenv(command->set.words[i]);
    int err = open_host_file(command);
    if (!err && options->timeout_ns > 0) return oshrun_engine_limit_run(command->argv.words, options->timeout_ns);
    if (!err) {
        execvp(command->argv.words[0], command->argv.words);
        err = errno;
    }
    shmemi_error("could not run %s: %s" FIX "oshrun --dry-run shows the command; try it by hand", command->argv.words[0],
                 strerror(err));
    return err == ENOENT ? OSHRUN_EXIT_NOT_FOUND : OSHRUN_EXIT_FAILED;
}

static int print(const struct oshrun_options *options, const struct oshrun_command *command)
{
    oshrun_engine_command_print(options, command);
    return fflush(stdout) == 0 ? 0 : OSHRUN_EXIT_FAILED;
}

static int start_here(struct oshrun_options *options, const struct oshrun_hosts *hosts, struct oshrun_command *command)
{
    choose_local_npes(options, hosts);
    if (options->rsh_agent != NULL || options->engine_args != NULL) {
        shmemi_warn("%s is not used: the PEs start on this machine, without an engine",
                    options->rsh_agent != NULL ? "--rsh-agent" : "--engine-args");
    }
    if (!options->dry_run) return OSHRUN_ENGINE_HERE;
    oshrun_engine_command_local(options, command);
    return print(options, command);
}

int oshrun_engine_start(struct oshrun_options *options)
{
    /* Static, so that what they own is still reachable when a leak checker looks. */
    static struct oshrun_hosts   hosts;
    static struct oshrun_command command;
    struct oshrun_engine         engine;
    int                          err = 0;
    if (options->hosts != NULL) {
        err = oshrun_engine_hosts_read(options->hosts, &hosts);
        if (!err) err = check_slots(options, &hosts);
        if (err) return err;
    }
    if (is_local(options, &hosts)) return start_here(options, &hosts, &command);

    int npes = options->npes_given ? options->npes : hosts.slots; /* 0: as the engine thinks */
    err      = oshrun_engine_find(options->engine, is_in_slurm(), &engine);
    if (!err) err = oshrun_engine_command_build(options, &engine, &hosts, npes, &command);
    if (err) return err;
    return options->dry_run ? print(options, &command) : become_engine(options, &command);
}
