/* SPDX-License-Identifier: Apache-2.0
 *
 * The list of bootstraps, and which of them this process belongs to.
 *
 * `local` and `self` are built in. `pmix` is a module, because it needs a library that not every machine has. Who was evidently started by a
 * PMIx launcher and cannot speak to it gets an error: alone, each of N processes would be a job of one PE, in silence.
 */
#include "runtime/bootstrap/bootstrap.h"

#include "runtime/base/log.h"
#include "runtime/base/module.h"
#include "runtime/base/options.h"
#include "runtime/base/report.h"
#include "runtime/bootstrap/pmix.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { OTHERS_SAY_S = 1 };

static int open_local(struct shmemb **b_out)
{
    int err = shmemb_local_ops.open(b_out);
    if (err == -ENOENT) {
        shmemi_error("could not join a job of oshrun" WHY
                     "POSTERN_BOOTSTRAP is \"local\", and oshrun did not start this process" FIX
                     "start it with \"oshrun -n N program\", or unset POSTERN_BOOTSTRAP");
    }
    return err;
}

/* ---- what a PMIx launcher leaves in the environment ---- */

static bool has_pmix_server(void)
{
    if (!getenv("PMIX_RANK") || !getenv("PMIX_NAMESPACE")) return false;
    for (char **entry = environ; entry && *entry; entry++)
        if (strncmp(*entry, SHMEMB_PMIX_SERVER, strlen(SHMEMB_PMIX_SERVER)) == 0) return true;
    return false;
}

/* A program that a PE has started has its variables, but is not that PE. One that the PE has become by exec is. */
static bool is_child_of_pe(void)
{
    const char *mark = getenv(SHMEMB_PMIX_MARK), *space = getenv("PMIX_NAMESPACE"), *rank = getenv("PMIX_RANK");
    char        own[512];
    if (!mark || !space || !rank) return false;
    int used = snprintf(own, sizeof own, "%s:%s:", space, rank);
    if (used < 0 || (size_t)used >= sizeof own || strncmp(mark, own, (size_t)used) != 0) return false;
    return strtol(mark + used, NULL, 10) != (long)getpid();
}

/*
 * All PEs of a machine meet the same trouble. The first says it, where its launcher tells who is the first; else PE 0 does at once and the others a
 * while later: most launchers have ended the job by then.
 */
static bool another_says_it(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        if (text && *text) return strcmp(text, "0") != 0;
    }
    return false;
}

static void let_others_say_it(void)
{
    const char     *rank = getenv("PMIX_RANK");
    struct timespec left = {.tv_sec = OTHERS_SAY_S};
    if (!rank || strcmp(rank, "0") == 0 || getenv("OMPI_COMM_WORLD_LOCAL_RANK") || getenv("SLURM_LOCALID")) return;
    while (nanosleep(&left, &left) != 0 && errno == EINTR) continue;
}

/* ---- the module ---- */

static SHMEMI_COLD int report_no_module(const char *why, const char *fix)
{
    let_others_say_it();
    if (!another_says_it())
        shmemi_error("could not join the job of a PMIx launcher (mpirun, srun, prterun)" WHY "%s" FIX "%s", why, fix);
    return -ELIBACC;
}

#ifdef SHMEMB_NO_MODULES /* libpostern.a: it is for static programs, where naming dlopen alone makes the linker warn */

static int load_pmix(const struct shmemb_ops **ops_out)
{
    (void)ops_out;
    return report_no_module("this program contains the library, linked statically, which then loads no modules",
                            "link the program with the shared library; oshrun starts this one, on one machine");
}

void shmemi_bootstrap_survey(void)
{
    shmemi_report("bootstrap pmix", SHMEMI_ABSENT,
                  "this program contains the library, linked statically, which then loads no modules");
}

#else

static int load_pmix(const struct shmemb_ops **ops_out)
{
    static const struct shmemb_ops *loaded;
    char                            folder[PATH_MAX], file[PATH_MAX + sizeof SHMEMB_PMIX_FILE + 1], why[PATH_MAX + 512];
    if (loaded) {
        *ops_out = loaded;
        return 0;
    }
    if (!shmemi_module_folder(folder, sizeof folder))
        return report_no_module("this program contains the library, which then finds no modules",
                                "link the program with the shared library");
    snprintf(file, sizeof file, "%s/" SHMEMB_PMIX_FILE, folder);
    if (access(file, F_OK) != 0) {
        snprintf(why, sizeof why, "there is no %s: the library was built without PMIx", file);
        return report_no_module(why, "build it where PMIx's headers are (Debian: libpmix-dev); configure says what it found");
    }
    void *module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!module) return report_no_module(dlerror(), "install library and modules together");

    /* A symbol is a void pointer to dlsym; memcpy avoids the cast to a function pointer, which C does not define. */
    shmemb_pmix_table_fn *table_of = NULL;
    void                 *symbol   = dlsym(module, SHMEMB_PMIX_SYMBOL);
    memcpy(&table_of, &symbol, sizeof table_of);
    if (!table_of) return report_no_module(dlerror(), "install library and modules together");
    struct shmemb_pmix_host host = {
        .version         = POSTERN_VERSION,
        .head_bytes      = sizeof(struct shmemb),
        .log_level       = shmemi_log_level(),
        .init_timeout_ns = shmemi_options.init_timeout_ns,
        .is_quiet        = another_says_it(),
        .await_turn      = let_others_say_it,
    };
    loaded   = table_of(&host); /* never unloaded: it has a handler for exit() */
    *ops_out = loaded;
    return loaded ? 0 : -ELIBBAD;
}

void shmemi_bootstrap_survey(void)
{
    char        folder[PATH_MAX], file[PATH_MAX + sizeof SHMEMB_PMIX_FILE + 1];
    const char *library = shmemi_options.pmix_library ? shmemi_options.pmix_library : SHMEMB_PMIX_LIBRARY;
    if (!shmemi_module_folder(folder, sizeof folder)) return;
    snprintf(file, sizeof file, "%s/" SHMEMB_PMIX_FILE, folder);
    if (access(file, F_OK) != 0) {
        shmemi_report("bootstrap pmix", SHMEMI_ABSENT, "this library was built without PMIx (Debian: libpmix-dev)");
        return;
    }
    void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (handle) shmemi_report("bootstrap pmix", SHMEMI_PRESENT, "for jobs of mpirun, srun and prterun (%s)", library);
    else shmemi_report("bootstrap pmix", SHMEMI_ABSENT, "for jobs of mpirun, srun and prterun: %s (Debian: libpmix2)", dlerror());
    if (handle) dlclose(handle);
}

#endif

/* -ENOENT: no PMIx launcher started this process. */
static int open_pmix(struct shmemb **b_out)
{
    const struct shmemb_ops *ops = NULL;
    if (!has_pmix_server() || is_child_of_pe()) return -ENOENT;
    int err = load_pmix(&ops);
    return err ? err : ops->open(b_out);
}

static int open_only_pmix(struct shmemb **b_out)
{
    int err = open_pmix(b_out);
    if (err == -ENOENT)
        shmemi_error("could not join the job of a PMIx launcher" WHY "POSTERN_BOOTSTRAP is \"pmix\", and %s" FIX
                     "start it with mpirun, \"srun --mpi=pmix\" or prterun, or unset POSTERN_BOOTSTRAP",
                     is_child_of_pe() ? "a PE started this process, not the launcher"
                                      : "PMIX_RANK, PMIX_NAMESPACE and " SHMEMB_PMIX_SERVER "... are not all in the environment");
    return err;
}

/*
 * Join the job that this process was started for. 0 and *b_out, or a negative errno after an error message.
 * shmemi_options is loaded.
 */
int shmemi_bootstrap_open(struct shmemb **b_out)
{
    assert(b_out != NULL);
    if (shmemi_options.bootstrap == SHMEMI_BOOTSTRAP_LOCAL) return open_local(b_out);
    if (shmemi_options.bootstrap == SHMEMI_BOOTSTRAP_PMIX) return open_only_pmix(b_out);
    if (shmemi_options.bootstrap == SHMEMI_BOOTSTRAP_SELF) return shmemb_self_ops.open(b_out);

    int err = shmemb_local_ops.open(b_out);
    if (err == -ENOENT) err = open_pmix(b_out);
    if (err != -ENOENT) return err;
    if (is_child_of_pe()) shmemi_options.bootstrap = SHMEMI_BOOTSTRAP_SELF; /* the launcher's marks are not meant for it */
    return shmemb_self_ops.open(b_out); /* last: it takes every process that nothing else claims */
}
