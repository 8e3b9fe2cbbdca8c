/* SPDX-License-Identifier: Apache-2.0
 *
 * Which engine is there? The first of a list that is in PATH and that says itself that it is one we can use: the name alone does
 * not tell Open MPI's mpirun from MPICH's, nor a Slurm with PMIx from one without. Programs are asked by their --version, and
 * srun by --mpi=list.
 */
#include "runtime/tools/oshrun_engine.h"

#include "runtime/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What --engine may name, in the order in which they are tried. In a Slurm allocation srun comes first, elsewhere not at all. */
static const char *const names[] = {"srun", "prterun", "mpirun", "mpiexec.hydra", "mpiexec"};

/* ---- asking -------------------------------------------------------------------------------------------------------------- */

/* Everything a program says when it is run with one argument, as far as it fits; *status_out as of waitpid. 0 or an errno. */
static int ask(const char *program, const char *argument, char *answer, size_t answer_bytes, int *status_out)
{
    posix_spawn_file_actions_t actions;
    int                        ends[2];
    pid_t                      pid;
    char                      *argv[] = {(char *)program, (char *)argument, NULL}; /* posix_spawn does not write */
    answer[0]                         = '\0';
    if (pipe2(ends, O_CLOEXEC) < 0) return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
    int err = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t used = 0;
    while (!err) {
        char    spill[256]; /* what does not fit is read all the same, so that the program does not end by SIGPIPE */
        bool    fits = used + 1 < answer_bytes;
        ssize_t got  = fits ? read(ends[0], answer + used, answer_bytes - used - 1) : read(ends[0], spill, sizeof spill);
        if (got == 0 || (got < 0 && errno != EINTR)) break;
        if (got > 0 && fits) used += (size_t)got;
    }
    answer[used] = '\0';
    close(ends[0]);
    while (!err && waitpid(pid, status_out, 0) < 0 && errno == EINTR) {
    }
    return err;
}

static bool has_word(const char *text, const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t            length    = strlen(word);
    for (const char *at = strstr(text, word); at != NULL; at = strstr(at + 1, word)) {
        bool begins = at == text || strchr(letters, at[-1]) == NULL;
        bool ends   = at[length] == '\0' || strchr(letters, at[length]) == NULL;
        if (begins && ends) return true;
    }
    return false;
}

/* ---- one candidate ------------------------------------------------------------------------------------------------------- */

/* Is it there, in PATH or at its path? The answer of posix_spawnp would not tell a missing file from a missing interpreter. */
static bool is_there(const char *program)
{
    if (strchr(program, '/') != NULL) return access(program, X_OK) == 0;
    const char *folders = getenv("PATH");
    if (folders == NULL) folders = _PATH_DEFPATH;
    for (;; folders++) {
        size_t      length = strcspn(folders, ":");
        char        path[4096];
        struct stat file;
        int         used = snprintf(path, sizeof path, "%.*s/%s", (int)length, length == 0 ? "." : folders, program);
        if (length == 0) used = snprintf(path, sizeof path, "./%s", program);
        if (used > 0 && (size_t)used < sizeof path && stat(path, &file) == 0 && S_ISREG(file.st_mode) && access(path, X_OK) == 0) {
            return true;
        }
        folders += length;
        if (*folders == '\0') return false;
    }
}

/* NULL and *engine, or why it is of no use. */
static const char *look_at_srun(const char *program, struct oshrun_engine *engine)
{
    static char answer[1 << 14];
    int         status = 0;
    if (ask(program, "--mpi=list", answer, sizeof answer, &status) != 0) return "it cannot be run";
    if (status != 0) return "\"srun --mpi=list\" fails: is this machine part of a Slurm cluster?";
    const char *pmix = has_word(answer, "pmix") ? "pmix" : NULL;
    if (pmix == NULL) {
        static const char *const versions[] = {"pmix_v5", "pmix_v4", "pmix_v3"};
        for (size_t i = 0; pmix == NULL && i < sizeof versions / sizeof versions[0]; i++) {
            if (has_word(answer, versions[i])) pmix = versions[i];
        }
    }
    if (pmix == NULL) return "this Slurm has no pmix plugin (\"srun --mpi=list\")";
    engine->kind = OSHRUN_ENGINE_SLURM;
    snprintf(engine->pmix, sizeof engine->pmix, "%s", pmix);
    return NULL;
}

static const char *look_at_hydra(const char *program, struct oshrun_engine *engine)
{
    static char answer[1 << 16];
    int         status = 0;
    if (ask(program, "--help", answer, sizeof answer, &status) != 0) return "it cannot be run";
    for (char *at = answer; *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z') *at = (char)(*at - 'A' + 'a');
    }
    if (strstr(answer, "pmix") == NULL) return "it is MPICH's, which does not speak PMIx";
    engine->kind = OSHRUN_ENGINE_HYDRA;
    return NULL;
}

static const char *look_at(const char *program, struct oshrun_engine *engine)
{
    static char answer[1 << 14];
    int         status = 0;
    const char *base   = strrchr(program, '/');
    base               = base != NULL ? base + 1 : program;
    engine->program    = program;
    if (!is_there(program)) return strchr(program, '/') != NULL ? "there is no such program" : "it is not in PATH";
    if (strcmp(base, "srun") == 0) return look_at_srun(program, engine);
    if (strcmp(base, "prterun") == 0) { /* its own texts can be missing, where its installation was moved */
        engine->kind = OSHRUN_ENGINE_PRRTE;
        return NULL;
    }
    if (ask(program, "--version", answer, sizeof answer, &status) != 0) return "it cannot be run";
    const char *open_mpi = strstr(answer, "(Open MPI) ");
    if (open_mpi == NULL) open_mpi = strstr(answer, "(OpenRTE) "); /* orterun and mpiexec of Open MPI */
    if (open_mpi != NULL) {
        long version = strtol(strchr(open_mpi, ')') + 2, NULL, 10);
        if (version < 4) return "it is Open MPI before version 4";
        engine->kind = version >= 5 ? OSHRUN_ENGINE_PRRTE : OSHRUN_ENGINE_ORTE;
        return NULL;
    }
    if (strstr(answer, "(PRRTE) ") != NULL) {
        engine->kind = OSHRUN_ENGINE_PRRTE;
        return NULL;
    }
    if (strstr(answer, "HYDRA") != NULL) return look_at_hydra(program, engine);
    return "its --version tells neither Open MPI, nor PRRTE, nor MPICH";
}

/* ---- all candidates ------------------------------------------------------------------------------------------------------ */

static bool is_known(const char *wanted)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(wanted, names[i]) == 0) return true;
    }
    return strcmp(wanted, "orterun") == 0 || strchr(wanted, '/') != NULL;
}

static const char *how_to_get(const char *wanted)
{
    if (strchr(wanted, '/') != NULL) return "check the path";
    if (strcmp(wanted, "srun") == 0) return "install Slurm with its PMIx plugin (Debian: slurm-wlm-basic-plugins and libpmix2)";
    if (strcmp(wanted, "prterun") == 0) return "install PRRTE, or Open MPI 5, which brings it";
    return "install Open MPI (Debian: apt install openmpi-bin)";
}

static int find_wanted(const char *wanted, struct oshrun_engine *engine)
{
    if (!is_known(wanted)) {
        shmemi_error("--engine takes local, prterun, mpirun, srun, mpiexec or the path of one of these, not \"%s\"" FIX
                     "\"oshrun --help\" tells what they are",
                     wanted);
        return OSHRUN_EXIT_USAGE;
    }
    const char *wrong = look_at(wanted, engine);
    if (wrong == NULL) return 0;
    shmemi_error("cannot hand the job over to %s" WHY "%s" FIX "%s, or leave --engine out: then the first that works is taken",
                 wanted, wrong, how_to_get(wanted));
    return OSHRUN_EXIT_FAILED;
}

int oshrun_engine_find(const char *wanted, bool in_slurm, struct oshrun_engine *engine_out)
{
    char                 reasons[1024] = "";
    struct oshrun_engine engine        = {.program = NULL};
    if (wanted != NULL) {
        int result = find_wanted(wanted, &engine);
        if (result == 0) *engine_out = engine;
        return result;
    }
    for (size_t i = in_slurm ? 0 : 1; i < sizeof names / sizeof names[0]; i++) {
        const char *wrong = look_at(names[i], &engine);
        if (wrong == NULL) {
            *engine_out = engine;
            return 0;
        }
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "%s%s: %s", used > 0 ? "; " : "", names[i], wrong);
    }
    shmemi_error("could not start PEs on %s: there is no launcher that can" WHY "%s" FIX
                 "install Open MPI (Debian: apt install openmpi-bin) on all of them%s",
                 in_slurm ? "the nodes of this Slurm allocation" : "other machines", reasons,
                 in_slurm ? ", or Slurm's PMIx plugin (Debian: slurm-wlm-basic-plugins and libpmix2)"
                          : ", or PRRTE, or name one by --engine PATH");
    return OSHRUN_EXIT_FAILED;
}
