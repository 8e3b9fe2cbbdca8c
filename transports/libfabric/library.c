/* SPDX-License-Identifier: Apache-2.0
 *
 * libfabric.so.1, loaded by the first that asks.
 *
 * Loading runs code of every vendor library that this libfabric was built with. Two of Debian's (PSM, PSM2) take over the handlers of SIGSEGV, SIGBUS,
 * SIGABRT, SIGINT and SIGTERM and move the process to CPU 0 for 0.2 s. A program that uses shared memory has asked for none of that. So
 * handlers and CPU mask are put back afterwards, these libraries are kept out where there is no device for them (no_psm.c), and the module is not
 * linked with libfabric.
 */
#include "transports/libfabric/fabric.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What we were written to: a newer header is asked for no more than this, as it may mean other things by the same bits. */
#define KNOWN_VERSION FI_VERSION(1, 20)

enum { SIGNALS = 65 };

struct manners {
    struct sigaction actions[SIGNALS];
    bool             known[SIGNALS];
    cpu_set_t        cpus;
    bool             cpus_known;
};

static void remember(struct manners *manners)
{
    for (int signal = 1; signal < SIGNALS; signal++)
        manners->known[signal] = sigaction(signal, NULL, &manners->actions[signal]) == 0;
    manners->cpus_known = sched_getaffinity(0, sizeof manners->cpus, &manners->cpus) == 0;
}

static bool same_action(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_handler == b->sa_handler && a->sa_flags == b->sa_flags; /* a union: sa_sigaction too */
}

static void put_back(const struct manners *manners)
{
    for (int signal = 1; signal < SIGNALS; signal++) {
        struct sigaction now;
        if (!manners->known[signal] || sigaction(signal, NULL, &now) != 0) continue;
        if (!same_action(&now, &manners->actions[signal])) sigaction(signal, &manners->actions[signal], NULL);
    }
    cpu_set_t now;
    if (manners->cpus_known && sched_getaffinity(0, sizeof now, &now) == 0 && !CPU_EQUAL(&now, &manners->cpus))
        sched_setaffinity(0, sizeof manners->cpus, &manners->cpus);
}

/* A symbol is a void pointer to dlsym; memcpy avoids the cast to a function pointer, which C does not define. */
static bool find(void *handle, const char *name, void *function_out)
{
    void *symbol = dlsym(handle, name);
    memcpy(function_out, &symbol, sizeof symbol);
    return symbol != NULL;
}

static bool fill(struct library *library, void *handle)
{
    uint32_t (*version)(void);
    if (!find(handle, "fi_getinfo", &library->getinfo) || !find(handle, "fi_freeinfo", &library->freeinfo) ||
        !find(handle, "fi_dupinfo", &library->dupinfo) || !find(handle, "fi_fabric", &library->fabric) ||
        !find(handle, "fi_strerror", &library->strerror) || !find(handle, "fi_version", &version))
        return false;
    library->version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
    if (FI_VERSION_GE(library->version, KNOWN_VERSION)) library->version = KNOWN_VERSION;
    if (FI_VERSION_GE(library->version, version())) library->version = version();
    return true;
}

/* A process may hold several PEs (tests), and the environment is of all of them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef __x86_64__ /* these devices have never been elsewhere */

/* Load a stand-in (no_psm.c) from beside this module. Where that does not work, the real one is loaded: slower, and no harm. */
static void keep_out(const char *real, const char *device, const char *stand_in)
{
    static const char here = 0; /* an address in this module */
    char              file[PATH_MAX];
    Dl_info           info;
    void             *loaded = dlopen(real, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded) dlclose(loaded); /* somebody else in this program uses it */
    if (loaded || access(device, F_OK) == 0) return;
    if (dladdr(&here, &info) == 0 || !info.dli_fname) return;
    const char *slash = strrchr(info.dli_fname, '/');
    int used = snprintf(file, sizeof file, "%.*s%s", slash ? (int)(slash + 1 - info.dli_fname) : 0, info.dli_fname, stand_in);
    if (used > 0 && (size_t)used < sizeof file) dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

static void keep_psm_out(void)
{
    keep_out("libpsm_infinipath.so.1", "/dev/ipath", "postern_no_psm.so");
    keep_out("libpsm2.so.2", "/dev/hfi1_0", "postern_no_psm2.so");
}

#else

static void keep_psm_out(void) {}

#endif

static const struct library *load(const char **why_out)
{
    static struct library library;
    static bool           loaded;
    static char           why[96];
    struct manners        manners;
    if (loaded) return &library;
    remember(&manners);
    keep_psm_out();
    void *theirs = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *handle = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    put_back(&manners);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(why, sizeof why, "%s", reason ? reason : "libfabric.so.1 cannot be loaded");
    } else if (!fill(&library, handle)) {
        snprintf(why, sizeof why, "libfabric.so.1 lacks fi_getinfo or one of its companions");
        handle = NULL; /* stays loaded: closing runs the exit code of its vendor libraries */
    }
    if (theirs) dlclose(theirs);
    library.handle = theirs ? NULL : handle;
    loaded         = handle != NULL;
    *why_out       = why;
    return loaded ? &library : NULL;
}

const struct library *shmemt_libfabric_library(const char **why_out)
{
    pthread_mutex_lock(&lock);
    const struct library *library = load(why_out);
    pthread_mutex_unlock(&lock);
    return library;
}

/* Settings that libfabric reads once, from the environment, when fi_getinfo is called first. */
static const struct {
    const char *name, *value;
} settings[] = {
    {"FI_AV_REMOVE_CLEANUP", "1"},              /* removing the address of a lost peer closes the connection too       */
    {"FI_OFI_RXM_CM_PROGRESS_INTERVAL", "500"}, /* us between looks for peers that want to connect; the default is 10 ms */
    {"FI_OFI_RXM_MSG_RX_SIZE", "32"},           /* buffers of 16 KiB for what no receive is there yet: clearing the usual  */
    {"FI_OFI_RXM_MSG_TX_SIZE", "64"},           /* number costs each PE a fifth of its start, and nothing gets faster by it */
};
enum { SETTINGS = sizeof settings / sizeof settings[0] };

int shmemt_libfabric_library_getinfo(const struct library *library, const struct fi_info *hints, struct fi_info **info_out)
{
    static bool    called; /* the first call runs the start-up code of every provider */
    struct manners manners;
    bool           ours[SETTINGS] = {false};
    pthread_mutex_lock(&lock);
    if (called) {
        int again = library->getinfo(library->version, NULL, NULL, 0, hints, info_out);
        pthread_mutex_unlock(&lock);
        return again;
    }
    called = true;
    for (size_t i = 0; i < SETTINGS; i++) {
        ours[i] = !getenv(settings[i].name) && setenv(settings[i].name, settings[i].value, 0) == 0;
    }
    remember(&manners);
    if (library->handle) shmemt_libfabric_quick_begin(library->handle);
    int err = library->getinfo(library->version, NULL, NULL, 0, hints, info_out);
    shmemt_libfabric_quick_end();
    put_back(&manners);
    /* Programs that this one starts have not been asked for them. */
    for (size_t i = 0; i < SETTINGS; i++)
        if (ours[i]) unsetenv(settings[i].name);
    pthread_mutex_unlock(&lock);
    return err;
}
