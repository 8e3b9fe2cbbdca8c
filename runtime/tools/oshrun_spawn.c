/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting the PEs: limits, environment, descriptors, processors, and the program.
 *
 * vfork, because the child only sets a few properties of itself and runs the program: no page table is copied, and an error of
 * exec comes back through shared memory before the next PE is started.
 */
#include "runtime/tools/oshrun.h"

#include "runtime/base/log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <paths.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FDS_PER_PE 5   /* two sockets, two pipes, and a pidfd where a script stands between */
#define FDS_OWN    20  /* epoll, signals, guard, and one PE's ends while it starts          */
#define SLOT_FIRST 100 /* descriptors of a PE: out of the way of scripts, which use small numbers */

/* ---- the program --------------------------------------------------------------------------------------------------------- */

/* 0, ENOENT, or EACCES: as a shell would find when it runs this path. */
static int check_executable(const char *path)
{
    struct stat file;
    if (stat(path, &file) < 0) return errno == EACCES ? EACCES : ENOENT;
    if (S_ISDIR(file.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0) return EACCES;
    return 0;
}

/* Look for a name without a slash in PATH. ENOENT, or EACCES where only files that cannot be executed were found. */
static int search_path(const char *name, char *path_out, size_t path_bytes)
{
    const char *folders = getenv("PATH");
    int         result  = ENOENT;
    if (folders == NULL) folders = _PATH_DEFPATH;
    for (;;) {
        size_t length = strcspn(folders, ":");
        int    used   = length == 0 ? snprintf(path_out, path_bytes, "./%s", name)
                                    : snprintf(path_out, path_bytes, "%.*s/%s", (int)length, folders, name);
        if (used > 0 && (size_t)used < path_bytes) {
            int err = check_executable(path_out);
            if (err == 0) return 0;
            if (err == EACCES) result = EACCES;
        }
        if (folders[length] == '\0') return result;
        folders += length + 1;
    }
}

int oshrun_spawn_find_program(struct oshrun_job *job)
{
    const char *name      = job->options->program[0];
    bool        has_slash = strchr(name, '/') != NULL;
    int         err;
    if (has_slash) {
        err = strlen(name) < sizeof job->program ? check_executable(name) : ENAMETOOLONG;
        if (!err) strcpy(job->program, name);
    } else {
        err = *name != '\0' ? search_path(name, job->program, sizeof job->program) : ENOENT;
    }
    if (err == 0) return 0;
    if (err == EACCES) {
        struct stat file;
        bool        is_folder = has_slash && stat(name, &file) == 0 && S_ISDIR(file.st_mode);
        shmemi_error("cannot run \"%s\"" WHY "%s" FIX "%s", name, is_folder ? "it is a folder" : "it is not executable",
                     is_folder ? "name the program in it" : "chmod +x it, or name its interpreter first");
        return OSHRUN_EXIT_NOT_EXECUTABLE;
    }
    if (!has_slash && check_executable(name) == 0) {
        shmemi_error("cannot run \"%s\"" WHY "it is in this folder, which is not in PATH" FIX "write ./%s", name, name);
    } else {
        shmemi_error("cannot run \"%s\"" WHY "%s" FIX "check the name%s", name,
                     has_slash ? "there is no such file" : "there is no such program in PATH", has_slash ? "" : " and PATH");
    }
    return OSHRUN_EXIT_NOT_FOUND;
}

/* ---- limits -------------------------------------------------------------------------------------------------------------- */

/* Descriptor numbers of the sockets in every PE, kept free by placeholders. Before anything else is opened. */
static int reserve_slots(struct oshrun_job *job)
{
    int first = job->files_limit.rlim_cur >= SLOT_FIRST + 28 ? SLOT_FIRST : 3;
    for (int i = 0; i < 2; i++) {
        job->slots[i] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, first);
        if (job->slots[i] < 0) return errno;
    }
    return 0;
}

int oshrun_spawn_check_limits(struct oshrun_job *job)
{
    rlim_t need = (rlim_t)job->npes * FDS_PER_PE + FDS_OWN + (job->npes * 2 > SLOT_FIRST ? 2 : 0);
    if (need < SLOT_FIRST + 2 + FDS_OWN && job->files_limit.rlim_cur >= SLOT_FIRST + 28) need = SLOT_FIRST + 2 + FDS_OWN;
    struct rlimit limit = job->files_limit;
    if (limit.rlim_max < need) {
        shmemi_error("cannot start %d PEs" WHY "oshrun needs %ju open files for them, and the limit is %ju" FIX
                     "raise the limit (ulimit -n %ju), or start fewer PEs",
                     job->npes, (uintmax_t)need, (uintmax_t)limit.rlim_max, (uintmax_t)need);
        return OSHRUN_EXIT_FAILED;
    }
    if (limit.rlim_cur < need) {
        limit.rlim_cur = need;
        setrlimit(RLIMIT_NOFILE, &limit); /* up to the hard limit this is always allowed */
    }
    int err = reserve_slots(job);
    if (err) {
        shmemi_error("could not start %d PEs: %s" FIX "raise the limit of open files (ulimit -n)", job->npes, strerror(err));
        return OSHRUN_EXIT_FAILED;
    }
    return 0;
}

/* ---- environment --------------------------------------------------------------------------------------------------------- */

/* What every PE gets of its own. The texts are written anew for each: vfork returns when the PE has its copy. */
struct own_environment {
    char   oshrun[192], pe[32], npes[32], local_rank[32], local_size[32], binding[128];
    char **all; /* NULL at the end */
};

static bool has_name(const char *entry, const char *name, size_t length)
{
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static bool is_replaced(const struct oshrun_options *options, const char *entry)
{
    static const char *const ours[] = {LAUNCH_VARIABLE,      "POSTERN_PE",         "POSTERN_NPES",
                                       "POSTERN_LOCAL_RANK", "POSTERN_LOCAL_SIZE", "POSTERN_BINDING"};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (has_name(entry, ours[i], strlen(ours[i]))) return true;
    }
    for (size_t i = 0; i < options->env_count; i++) {
        if (has_name(entry, options->env[i], strcspn(options->env[i], "="))) return true;
    }
    return false;
}

/* The same K given twice: the last one counts. */
static bool is_given_again(const struct oshrun_options *options, size_t index)
{
    size_t length = strcspn(options->env[index], "=");
    for (size_t i = index + 1; i < options->env_count; i++) {
        if (has_name(options->env[i], options->env[index], length)) return true;
    }
    return false;
}

static int build_environment(const struct oshrun_job *job, struct own_environment *own)
{
    size_t inherited = 0, used = 0;
    while (environ[inherited] != NULL) inherited++;
    own->all = calloc(inherited + job->options->env_count + 7, sizeof own->all[0]);
    if (own->all == NULL) return ENOMEM;
    for (size_t i = 0; i < inherited; i++) {
        if (!is_replaced(job->options, environ[i])) own->all[used++] = environ[i];
    }
    for (size_t i = 0; i < job->options->env_count; i++) {
        if (!is_given_again(job->options, i)) own->all[used++] = (char *)job->options->env[i]; /* execve does not write */
    }
    own->all[used++] = own->oshrun;
    own->all[used++] = own->pe;
    own->all[used++] = own->npes;
    own->all[used++] = own->local_rank;
    own->all[used++] = own->local_size;
    own->all[used++] = own->binding;
    return 0;
}

static void fill_environment(const struct oshrun_job *job, struct own_environment *own, int pe, const struct stat sockets[2])
{
    snprintf(own->oshrun, sizeof own->oshrun, LAUNCH_VARIABLE "=" LAUNCH_FORMAT, LAUNCH_VERSION, job->slots[0], job->slots[1],
             (unsigned long)sockets[0].st_ino, (unsigned long)sockets[1].st_ino, pe, job->npes, pe, job->npes);
    snprintf(own->pe, sizeof own->pe, "POSTERN_PE=%d", pe);
    snprintf(own->npes, sizeof own->npes, "POSTERN_NPES=%d", job->npes);
    snprintf(own->local_rank, sizeof own->local_rank, "POSTERN_LOCAL_RANK=%d", pe);
    snprintf(own->local_size, sizeof own->local_size, "POSTERN_LOCAL_SIZE=%d", job->npes);
    snprintf(own->binding, sizeof own->binding, "POSTERN_BINDING=%s", job->plan.places[pe].text);
}

/* ---- one PE -------------------------------------------------------------------------------------------------------------- */

/* The PE's ends while it starts. */
struct start {
    int          in_fd, out_fd, err_fd; /* in_fd 0: oshrun's own */
    char *const *argv;
    char *const *envp;
};

static volatile int exec_error; /* written by the child of vfork in our memory */

/* In the child of vfork, which shares our memory: system calls only. */
SHMEMI_NORETURN static void become_pe(const struct oshrun_job *job, int pe, const struct start *start)
{
    const struct oshrun_place *place = &job->plan.places[pe];
    setpgid(0, 0);
    job->guard->groups[pe] = getpid();
    if (place->cpus.set != NULL) sched_setaffinity(0, place->cpus.bytes, place->cpus.set); /* a processor may have gone offline */
    if (start->in_fd != STDIN_FILENO) dup2(start->in_fd, STDIN_FILENO);
    dup2(start->out_fd, STDOUT_FILENO);
    dup2(start->err_fd, STDERR_FILENO);
    fcntl(job->slots[0], F_SETFD, 0);
    fcntl(job->slots[1], F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &job->files_limit);
    sigaction(SIGPIPE, &job->pipe_before, NULL);
    sigprocmask(SIG_SETMASK, &job->signals_before, NULL);

    execve(job->program, start->argv, start->envp);
    exec_error = errno;
    _exit(OSHRUN_EXIT_NOT_FOUND);
}

static pid_t start_process(const struct oshrun_job *job, int pe, const struct start *start)
{
    exec_error = 0;
    pid_t pid  = vfork();
    if (pid == 0) become_pe(job, pe, start);
    if (pid > 0 && exec_error != 0) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
        job->guard->groups[pe] = 0;
    }
    return pid;
}

static int report_exec_error(const struct oshrun_job *job, int err)
{
    const char *why = err == ENOENT    ? "the interpreter or loader that the file names does not exist on this machine"
                      : err == ENOEXEC ? "the file is for another processor, or damaged"
                      : err == E2BIG   ? "its arguments and environment are too long"
                                       : "see the error";
    shmemi_error("could not run \"%s\": %s" WHY "%s" FIX "run it without oshrun to see more", job->options->program[0],
                 strerror(err), why);
    return err == ENOENT ? OSHRUN_EXIT_NOT_FOUND : OSHRUN_EXIT_NOT_EXECUTABLE;
}

static int report_fork_error(const struct oshrun_job *job, int pe, int err)
{
    shmemi_error("could not start PE %d of %d: %s" WHY "%s" FIX
                 "start fewer PEs, or raise the limit (ulimit -u, the container's pids limit)",
                 pe, job->npes, strerror(err),
                 err == EAGAIN ? "the limit of processes of this user or container is reached"
                               : "the system has not enough memory");
    return OSHRUN_EXIT_FAILED;
}

static bool is_binary(const char *path)
{
    char magic[4] = {0};
    int  fd       = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, magic, sizeof magic);
    close(fd);
    return got == sizeof magic && memcmp(magic, "\177ELF", sizeof magic) == 0;
}

/* A script without "#!" is run by the shell, as the shell itself and execvp do. */
static int retry_with_shell(const struct oshrun_job *job, int pe, struct start *start, pid_t *pid_out)
{
    size_t count = 0;
    while (job->options->program[count] != NULL) count++;
    const char **argv = calloc(count + 2, sizeof argv[0]);
    if (argv == NULL) return ENOMEM;
    argv[0] = "sh";
    argv[1] = job->program;
    for (size_t i = 1; i < count; i++) argv[i + 1] = job->options->program[i];

    struct oshrun_job *shell_job = malloc(sizeof *shell_job);
    if (shell_job == NULL) {
        free(argv);
        return ENOMEM;
    }
    *shell_job = *job;
    strcpy(shell_job->program, _PATH_BSHELL);
    start->argv = (char *const *)argv; /* execve does not write */
    *pid_out    = start_process(shell_job, pe, start);
    free(shell_job);
    free(argv);
    return exec_error;
}

/* Make the PE's sockets; its ends go to the reserved numbers. 0 or an errno. */
static int open_sockets(const struct oshrun_job *job, struct oshrun_pe *pe, struct stat sockets_out[2])
{
    static const int types[2] = {SOCK_STREAM, SOCK_SEQPACKET};
    int *const       mine[2]  = {&pe->call_fd, &pe->notice_fd};
    for (int i = 0; i < 2; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, pair) < 0) return errno;
        *mine[i] = pair[0];
        int err  = dup3(pair[1], job->slots[i], O_CLOEXEC) < 0 || fstat(pair[1], &sockets_out[i]) < 0 ? errno : 0;
        close(pair[1]);
        if (err) return err;
    }
    /* The kernel tells who speaks, whatever stands between. */
    return setsockopt(pe->notice_fd, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) < 0 ? errno : 0;
}

static int open_pipe(struct oshrun_stream *stream, struct oshrun_sink *sink, int pe, int *pe_end_out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return errno;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *stream     = (struct oshrun_stream){.fd = ends[0], .pe = pe, .sink = sink};
    *pe_end_out = ends[1];
    return 0;
}

/* Open what the PE needs, start it, close its ends here. 0, or the exit status after an error message. */
static int start_pe(struct oshrun_job *job, int number, int in_fd, struct own_environment *own)
{
    struct oshrun_pe *pe = &job->pes[number];
    struct stat       sockets[2];
    struct start      start = {.in_fd = in_fd, .out_fd = -1, .err_fd = -1, .argv = job->options->program, .envp = own->all};
    pid_t             pid   = -1;

    int err = open_sockets(job, pe, sockets);
    if (!err) err = open_pipe(&pe->out, job->output.out, number, &start.out_fd);
    if (!err) err = open_pipe(&pe->err, job->output.err, number, &start.err_fd);
    if (err) {
        shmemi_error("could not start PE %d of %d: %s" FIX "raise the limit of open files (ulimit -n), or start fewer PEs", number,
                     job->npes, strerror(err));
        err = OSHRUN_EXIT_FAILED;
        goto close_ends;
    }

    fill_environment(job, own, number, sockets);
    pid = start_process(job, number, &start);
    if (pid < 0) {
        err = report_fork_error(job, number, errno);
        goto close_ends;
    }
    if (exec_error == ENOEXEC && !is_binary(job->program)) (void)retry_with_shell(job, number, &start, &pid);
    if (pid < 0) {
        err = report_fork_error(job, number, errno);
    } else if (exec_error != 0) {
        err = report_exec_error(job, exec_error);
    } else {
        pe->pid = pid;
        job->running++;
        oshrun_loop_watch(job, pe->call_fd, EPOLLIN, OSHRUN_CALL, number);
        oshrun_loop_watch(job, pe->notice_fd, EPOLLIN, OSHRUN_NOTICE, number);
        oshrun_loop_watch(job, pe->out.fd, EPOLLIN, OSHRUN_OUT, number);
        oshrun_loop_watch(job, pe->err.fd, EPOLLIN, OSHRUN_ERR, number);
    }

close_ends:
    if (start.out_fd >= 0) close(start.out_fd);
    if (start.err_fd >= 0) close(start.err_fd);
    return err;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

/*
 * What PE 0 reads: oshrun's own stdin, so that files stay seekable and nothing is copied. Not a terminal, though: the PE is in a process
 * group of its own, which may not read it; there a pipe stands between and oshrun reads the terminal.
 */
static int open_input(struct oshrun_job *job)
{
    int ends[2];
    job->input_fd = -1;
    if (!isatty(STDIN_FILENO) || pipe2(ends, O_CLOEXEC) < 0) return STDIN_FILENO;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    job->input_fd = ends[1];
    return ends[0];
}

static void blank_pes(struct oshrun_job *job)
{
    for (int i = 0; i < job->npes; i++) {
        job->pes[i] =
            (struct oshrun_pe){.number = i, .call_fd = -1, .notice_fd = -1, .member_fd = -1, .out = {.fd = -1}, .err = {.fd = -1}};
    }
}

int oshrun_spawn_all(struct oshrun_job *job)
{
    struct own_environment own;
    job->pes = calloc((size_t)job->npes, sizeof job->pes[0]);
    if (job->pes == NULL || build_environment(job, &own) != 0) {
        shmemi_error("could not start %d PEs: %s", job->npes, strerror(errno));
        return OSHRUN_EXIT_FAILED;
    }
    blank_pes(job);

    int err     = 0;
    int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int in_fd   = open_input(job);
    for (int pe = 0; pe < job->npes && err == 0; pe++) {
        err = start_pe(job, pe, pe == 0 ? in_fd : null_fd, &own);
        if (pe == 0 && in_fd != STDIN_FILENO) close(in_fd);
    }
    /* Only the PEs hold these now, so their end can be seen. */
    close(job->slots[0]);
    close(job->slots[1]);
    if (null_fd >= 0) close(null_fd);
    free(own.all);
    return err;
}
