/* SPDX-License-Identifier: Apache-2.0
 *
 * oshrun: start the PEs of a job on this machine, pass input, output and signals, and end well; or hand the job over to a launcher
 * that reaches other machines. oshrun.h is the map.
 * Spec: OpenSHMEM 1.6 §B.2 Running Programs
 */
#include "runtime/tools/oshrun_engine.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help_text[] =
    "NAME\n"
    "    oshrun - run an OpenSHMEM program\n"
    "\n"
    "SYNOPSIS\n"
    "    oshrun [-n N] [--tag-output] [--timeout S] [--env K=V]... [--bind core|numa|none] program [argument]...\n"
    "    oshrun --hosts FILE|a,b:2 [-n N] [--oversubscribe] [--engine NAME] [--engine-args TEXT] [--rsh-agent PROGRAM]\n"
    "           [--dry-run] [option]... program [argument]...\n"
    "\n"
    "DESCRIPTION\n"
    "    Starts N processing elements (PEs) on this machine. Each runs the program in a process group of its own. Programs that\n"
    "    are not OpenSHMEM programs, and scripts that start one, work too.\n"
    "\n"
    "    Standard input goes to PE 0; the other PEs read /dev/null. Output of all PEs is passed on line by line.\n"
    "    INT, TERM, HUP, QUIT, USR1 and USR2 are passed to the PEs. INT or TERM a second time kills them, and so do 5 s after the\n"
    "    first. USR2 makes PEs say what they wait for.\n"
    "\n"
    "    With --hosts, and in a Slurm allocation, PEs run on several machines. Then oshrun hands over to an engine: another\n"
    "    launcher, which takes its place. Exit status, signals and output are then the engine's.\n"
    "\n"
    "OPTIONS\n"
    "    -n N, -np N        number of PEs (default 1; with --hosts all slots; in a Slurm allocation its tasks)\n"
    "    --tag-output       begin every line with the number of its PE: [3] text\n"
    "    --timeout S        end the job after S seconds, with status 124\n"
    "    --env K=V          set a variable for the PEs; may be given more than once\n"
    "    --bind core        one core per PE, with all its hardware threads; not bound if there are more PEs than cores\n"
    "    --bind numa        the processors of one memory node per PE\n"
    "    --bind none        not bound\n"
    "                       default: core if there are at least as many cores as PEs and more than one PE, else none\n"
    "    --help, --version\n"
    "\n"
    "    Several machines\n"
    "    --hosts FILE|LIST  where: a,b:2 or the name of a file with one host a line (NAME, NAME:2, NAME slots=2). A host without\n"
    "                       a number has one slot. PEs fill the hosts in this order. This machine alone needs no engine\n"
    "    --oversubscribe    more PEs than slots are no error\n"
    "    --engine NAME      prterun, mpirun, srun, mpiexec, or the path of one; local: oshrun itself, here\n"
    "                       default: the first found of prterun, mpirun and mpiexec; in a Slurm allocation srun before them\n"
    "    --engine-args TEXT further options for the engine, split at spaces outside of quotes\n"
    "    --rsh-agent P      program that runs a command on a host, in place of ssh\n"
    "    --dry-run          print the command, for a shell, and do nothing\n"
    "\n"
    "ENVIRONMENT OF A PE\n"
    "    POSTERN_PE POSTERN_NPES POSTERN_LOCAL_RANK POSTERN_LOCAL_SIZE POSTERN_BINDING\n"
    "    Not with an engine. An engine passes on what --env sets, LD_LIBRARY_PATH, and the variables that begin with POSTERN_,\n"
    "    SHMEM_, SMA_ and FI_; srun all of them.\n"
    "\n"
    "EXIT STATUS\n"
    "    That of the first PE that failed; 128 + S if signal S ended it; that of shmem_global_exit if a PE called it; else 0.\n"
    "    1    the job could not be started, or a PE left without shmem_finalize\n"
    "    2    the command line is wrong\n"
    "    124  --timeout has passed\n"
    "    126  the program cannot be executed\n"
    "    127  there is no such program\n"
    "\n"
    "    When a PE fails the others are told, then get TERM, then KILL, within 2 s. Nothing is left behind, also if oshrun\n"
    "    itself is killed, as long as programs stay in the process group of their PE.\n"
    "\n"
    "EXAMPLES\n"
    "    oshrun -n 4 ./hello\n"
    "    oshrun -n 2 --tag-output --timeout 60 --env SHMEM_SYMMETRIC_SIZE=1G ./ring 1000\n"
    "    oshrun --hosts node1:4,node2:4 ./ring 1000\n";

/* ---- options ------------------------------------------------------------------------------------------------------------- */

SHMEMI_NORETURN static void usage_error(const char *what, const char *given)
{
    shmemi_error("%s%s%s%s" FIX "oshrun [-n N] [options] program [argument]...; \"oshrun --help\" tells the options", what,
                 given != NULL ? " \"" : "", given != NULL ? given : "", given != NULL ? "\"" : "");
    exit(OSHRUN_EXIT_USAGE);
}

static int parse_npes(const char *text)
{
    char *end;
    errno     = 0;
    long npes = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || npes < 1 || npes > LAUNCH_NPES_MAX)
        usage_error("-n takes a number of PEs from 1 to 1048576, not", text);
    return (int)npes;
}

static int64_t parse_timeout(const char *text)
{
    char  *end;
    double seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
        usage_error("--timeout takes a number of seconds above 0, not", text);
    return (int64_t)(seconds * 1e9) + 1;
}

static enum oshrun_bind parse_bind(const char *text)
{
    if (strcmp(text, "core") == 0) return OSHRUN_BIND_CORE;
    if (strcmp(text, "numa") == 0) return OSHRUN_BIND_NUMA;
    if (strcmp(text, "none") == 0) return OSHRUN_BIND_NONE;
    usage_error("--bind takes core, numa or none, not", text);
}

static void add_env(struct oshrun_options *options, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) usage_error("--env takes NAME=VALUE, not", text);
    const char **grown = realloc(options->env, (options->env_count + 1) * sizeof grown[0]);
    if (grown == NULL) exit(OSHRUN_EXIT_FAILED);
    options->env                       = grown;
    options->env[options->env_count++] = text;
}

/* getopt knows no "-np"; it is the same as -n. Only before the program's name, which the first other word is. */
static void rewrite_np(int argc, char **argv)
{
    static char              short_n[]    = "-n";
    static const char *const with_value[] = {"-n",      "--timeout", "--env",         "--bind",
                                             "--hosts", "--engine",  "--engine-args", "--rsh-agent"};
    for (int i = 1; i < argc && argv[i][0] == '-' && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-np") == 0 || strcmp(argv[i], "--np") == 0) argv[i] = short_n;
        for (size_t k = 0; k < sizeof with_value / sizeof with_value[0]; k++) {
            if (strcmp(argv[i], with_value[k]) == 0) {
                i++;
                break;
            }
        }
    }
}

static struct oshrun_options parse_options(int argc, char **argv)
{
    enum { TAG = 256, TIMEOUT, ENV, BIND, HOSTS, OVERSUBSCRIBE, ENGINE, ENGINE_ARGS, RSH_AGENT, DRY_RUN, HELP, VERSION };
    static const struct option known[] = {
        {"tag-output", no_argument, NULL, TAG},
        {"timeout", required_argument, NULL, TIMEOUT},
        {"env", required_argument, NULL, ENV},
        {"bind", required_argument, NULL, BIND},
        {"hosts", required_argument, NULL, HOSTS},
        {"oversubscribe", no_argument, NULL, OVERSUBSCRIBE},
        {"engine", required_argument, NULL, ENGINE},
        {"engine-args", required_argument, NULL, ENGINE_ARGS},
        {"rsh-agent", required_argument, NULL, RSH_AGENT},
        {"dry-run", no_argument, NULL, DRY_RUN},
        {"help", no_argument, NULL, HELP},
        {"version", no_argument, NULL, VERSION},
        {NULL, 0, NULL, 0},
    };
    struct oshrun_options options = {.npes = 1};
    rewrite_np(argc, argv);
    opterr = 0;
    for (;;) {
        const char *word   = optind < argc ? argv[optind] : "";
        int         option = getopt_long(argc, argv, "+:n:hV", known, NULL);
        if (option == -1) break;
        switch (option) {
        case 'n':
            options.npes       = parse_npes(optarg);
            options.npes_given = true;
            break;
        case TAG: options.tag_output = true; break;
        case TIMEOUT:
            options.timeout_ns   = parse_timeout(optarg);
            options.timeout_text = optarg;
            break;
        case ENV: add_env(&options, optarg); break;
        case BIND: options.bind = parse_bind(optarg); break;
        case HOSTS: options.hosts = optarg; break;
        case OVERSUBSCRIBE: options.oversubscribe = true; break;
        case ENGINE: options.engine = optarg; break;
        case ENGINE_ARGS: options.engine_args = optarg; break;
        case RSH_AGENT: options.rsh_agent = optarg; break;
        case DRY_RUN: options.dry_run = true; break;
        case 'h':
        case HELP: fputs(help_text, stdout); exit(fflush(stdout) == 0 ? 0 : OSHRUN_EXIT_FAILED);
        case 'V':
        case VERSION: puts("oshrun (Postern) " POSTERN_VERSION); exit(fflush(stdout) == 0 ? 0 : OSHRUN_EXIT_FAILED);
        case ':': usage_error("a value is missing after", word);
        default: usage_error("unknown option", word);
        }
    }
    if (optind >= argc) usage_error("the program to run is missing", NULL);
    options.program = argv + optind;
    return options;
}

/* ---- a run --------------------------------------------------------------------------------------------------------------- */

/* Descriptors 0 to 2 are open, whoever started us: else a pipe of ours would get such a number. */
static void open_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) < 0) _exit(OSHRUN_EXIT_FAILED);
    }
}

static int plan_binding(struct oshrun_job *job)
{
    struct oshrun_cpus allowed = {.set = NULL};
    enum oshrun_bind   bind    = job->options->bind;
    char               note[160];
    if (oshrun_bind_allowed(&allowed) != 0) bind = OSHRUN_BIND_NONE;
    int err = oshrun_bind_plan("/sys", &allowed, bind, job->npes, &job->plan, note, sizeof note);
    oshrun_bind_free_cpus(&allowed);
    if (err) {
        shmemi_error("could not start %d PEs: %s", job->npes, strerror(-err));
        return OSHRUN_EXIT_FAILED;
    }
    if (note[0] != '\0') shmemi_warn("%s", note);
    return 0;
}

static int start(struct oshrun_job *job)
{
    int err = oshrun_spawn_find_program(job);
    if (!err) err = oshrun_spawn_check_limits(job);
    if (!err) err = plan_binding(job);
    if (!err) err = oshrun_loop_open(job);
    if (!err) err = oshrun_guard_start(job);
    if (!err) {
        oshrun_output_open(&job->output, job->options->tag_output);
        err = oshrun_spawn_all(job);
    }
    return err;
}

int main(int argc, char **argv)
{
    open_standard_descriptors();
    /* Static, so that what they own is still reachable when a leak checker looks. */
    static struct oshrun_job     job;
    static struct oshrun_options options;
    options     = parse_options(argc, argv);
    int started = oshrun_engine_start(&options);
    if (started != OSHRUN_ENGINE_HERE) return started;
    job.options = &options;
    job.npes    = options.npes;
    getrlimit(RLIMIT_NOFILE, &job.files_limit);

    int err = start(&job);
    if (err) { /* said already; what did start goes at once */
        job.status = err;
        job.ending = true;
        if (job.pes != NULL) oshrun_end_finish(&job);
    } else {
        if (options.timeout_ns > 0) job.timeout_at_ns = shmemi_now_ns() + options.timeout_ns;
        oshrun_loop_run(&job);
        oshrun_end_finish(&job);
    }
    oshrun_guard_stop(&job);
    return job.status;
}
