/* SPDX-License-Identifier: Apache-2.0
 *
 * Which transports there are: the built-in ones, in one array by preference, and modules: files transport_NAME.so in the
 * folders of POSTERN_TRANSPORT_PATH, opened on demand.
 *
 * Tables are copied, and empty optional slots filled, so that the runtime calls any slot without a NULL test.
 * Tests: tests/transport/registry_*.c.
 */
#include "runtime/base/log.h"
#include "runtime/base/report.h"
#include "transports/transport.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* By preference: the first that reaches a PE's segment serves it. */
static const struct shmemt_ops *const built_in[] = {
    &shmemt_shm_ops,
};
enum { BUILT_IN_COUNT = sizeof built_in / sizeof built_in[0] };

#define MODULE_PREFIX "transport_"
#define MODULE_SUFFIX ".so"
enum { NAME_BYTES_MAX = 63 };

/* ---- defaults of the optional slots, as transport.h documents them ---- */

static int no_address(struct shmemt *tp, struct shmemt_address *address_out)
{
    (void)tp;
    *address_out = (struct shmemt_address){0};
    return 0;
}

static int any_peer(struct shmemt *tp, int pe, const struct shmemt_address *address)
{
    (void)tp, (void)pe, (void)address;
    return 0;
}

static void nothing_to_lose(struct shmemt *tp, int pe)
{
    (void)tp, (void)pe;
}

static void *not_mapped(struct shmemt *tp, int pe, int segment)
{
    (void)tp, (void)pe, (void)segment;
    return NULL;
}

static int no_put_signal(struct shmemt_ctx *ctx, int pe, const struct shmemt_xfer *xfer, const struct shmemt_amo *signal)
{
    (void)ctx, (void)pe, (void)xfer, (void)signal;
    return -ENOSYS;
}

static int no_descriptor(struct shmemt_ctx *ctx)
{
    (void)ctx;
    return -1;
}

static size_t no_counters(struct shmemt *tp, struct shmemt_counter *counters_out, size_t room)
{
    (void)tp, (void)counters_out, (void)room;
    return 0;
}

static void fill_optional_slots(struct shmemt_ops *ops)
{
    if (!ops->address) ops->address = no_address;
    if (!ops->add_peer) ops->add_peer = any_peer;
    if (!ops->lose_peer) ops->lose_peer = nothing_to_lose;
    if (!ops->map) ops->map = not_mapped;
    if (!ops->put_signal) ops->put_signal = no_put_signal;
    if (!ops->arm) ops->arm = no_descriptor;
    if (!ops->counters) ops->counters = no_counters;
}

static const char *missing_slot(const struct shmemt_ops *ops)
{
    if (!ops->probe) return "probe";
    if (!ops->open) return "open";
    if (!ops->close) return "close";
    if (!ops->export_region) return "export_region";
    if (!ops->unexport_region) return "unexport_region";
    if (!ops->import_region) return "import_region";
    if (!ops->ctx_open) return "ctx_open";
    if (!ops->ctx_close) return "ctx_close";
    if (!ops->put) return "put";
    if (!ops->get) return "get";
    if (!ops->amo) return "amo";
    if (!ops->fence) return "fence";
    if (!ops->quiet) return "quiet";
    if (!ops->progress) return "progress";
    return NULL;
}

/* ---- the loader ---- */

#ifdef SHMEMT_NO_MODULES /* libpostern.a: it is for static programs, where naming dlopen alone makes the linker warn */

static void *open_module(const char *file, const char **reason_out)
{
    (void)file;
    *reason_out = "this program contains the library, linked statically, which then loads no modules";
    return NULL;
}

static void *find_symbol(void *module)
{
    (void)module;
    return NULL;
}

static void close_module(void *module)
{
    (void)module;
}

#define REMEDY "link the program with the shared library"

#else

static void *open_module(const char *file, const char **reason_out)
{
    void *module = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!module) *reason_out = dlerror();
    return module;
}

static void *find_symbol(void *module)
{
    return dlsym(module, SHMEMT_MODULE_SYMBOL);
}

static void close_module(void *module)
{
    dlclose(module);
}

#define REMEDY "install what is missing"

#endif

/* ---- the list ---- */

static bool listed(const struct shmemt_registry *registry, const char *name)
{
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->ops[i].name, name) == 0) return true;
    return false;
}

/* Check a table and add it. `file` is NULL for a built-in one. On failure the module stays the caller's. */
static int add(struct shmemt_registry *registry, const struct shmemt_ops *ops, void *module, const char *file)
{
    const char *from = file ? file : "this library", *slot;
    if (registry->count == SHMEMT_REGISTRY_MAX) {
        shmemi_error("cannot load the transport in %s" WHY "%d are loaded already, which is the most" FIX
                     "name fewer in POSTERN_TRANSPORTS",
                     from, SHMEMT_REGISTRY_MAX);
        return -EINVAL;
    }
    /* The version is the first field of every version's table: nothing behind it is read before this. */
    if (ops->version != SHMEMT_VERSION) {
        shmemi_error("cannot load the transport in %s" WHY
                     "it was built for version %u of the transport interface, this library has %d" FIX
                     "build it against this library's transport.h",
                     from, ops->version, SHMEMT_VERSION);
        return -EINVAL;
    }
    slot = ops->name ? missing_slot(ops) : "name";
    if (slot) {
        shmemi_error("cannot load the transport in %s" WHY "its table has no %s, which every transport needs" FIX
                     "fill that slot (docs/transports.md), or take the file out of POSTERN_TRANSPORT_PATH",
                     from, slot);
        return -EINVAL;
    }
    registry->ops[registry->count]    = *ops;
    registry->module[registry->count] = module;
    fill_optional_slots(&registry->ops[registry->count++]);
    return 0;
}

/*
 * Open one module file. wanted: the user has named it, so that a file which cannot be opened is an error; else it is a line in the
 * report, as its vendor library may just not be installed.
 */
static int add_module(struct shmemt_registry *registry, const char *name, const char *file, bool wanted)
{
    const char *reason = NULL;
    void       *module = open_module(file, &reason);
    if (!module) {
        char line[80];
        snprintf(line, sizeof line, "transport %s", name);
        if (!wanted) {
            shmemi_report(line, SHMEMI_ABSENT, "%s", reason);
            return 0;
        }
        shmemi_error("could not load transport %s" WHY "%s" FIX REMEDY ", or take %s out of POSTERN_TRANSPORTS", name, reason,
                     name);
        return -EINVAL;
    }

    /* A symbol is a void pointer to dlsym; memcpy avoids the cast to a function pointer, which C does not define. */
    shmemt_module_fn *table_of;
    void             *symbol = find_symbol(module);
    memcpy(&table_of, &symbol, sizeof table_of);
    const struct shmemt_ops *ops = symbol ? table_of() : NULL;
    if (!ops) {
        shmemi_error("cannot load transport %s from %s" WHY "it does not export " SHMEMT_MODULE_SYMBOL ", or that returns NULL" FIX
                     "take the file out of POSTERN_TRANSPORT_PATH; docs/transports.md says what a module exports",
                     name, file);
        goto close;
    }
    if (add(registry, ops, module, file)) goto close;
    return 0;

close:
    close_module(module);
    return -EINVAL;
}

/* Step through the parts of `list`. false at the end. Empty parts are skipped. */
static bool next_part(const char **list, char separator, const char **part_out, size_t *bytes_out)
{
    while (**list == separator) (*list)++;
    if (**list == '\0') return false;
    const char *end = strchr(*list, separator);
    *part_out       = *list;
    *bytes_out      = end ? (size_t)(end - *list) : strlen(*list);
    *list += *bytes_out;
    return true;
}

static const struct shmemt_ops *find_built_in(const char *name)
{
    for (size_t i = 0; i < BUILT_IN_COUNT; i++)
        if (strcmp(built_in[i]->name, name) == 0) return built_in[i];
    return NULL;
}

static bool find_module(const char *path, const char *name, char file_out[PATH_MAX])
{
    const char *folder;
    size_t      bytes;
    if (strchr(name, '/')) return false; /* a name, not a way out of the folder */
    while (path && next_part(&path, ':', &folder, &bytes)) {
        int used = snprintf(file_out, PATH_MAX, "%.*s/" MODULE_PREFIX "%s" MODULE_SUFFIX, (int)bytes, folder, name);
        if (used < PATH_MAX && access(file_out, F_OK) == 0) return true;
    }
    return false;
}

static SHMEMI_COLD void report_unknown(const char *name, const char *path)
{
    char   known[256] = "";
    size_t used       = 0;
    for (size_t i = 0; i < BUILT_IN_COUNT && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", built_in[i]->name);
    shmemi_error("cannot find the transport \"%s\" of POSTERN_TRANSPORTS" WHY "built in are: %s; no file " MODULE_PREFIX
                 "%s" MODULE_SUFFIX " in POSTERN_TRANSPORT_PATH (%s)" FIX
                 "name one of these, or add the folder that has the module",
                 name, known, name, path && *path ? path : "not set");
}

static int add_named(struct shmemt_registry *registry, const char *name, const char *path)
{
    const struct shmemt_ops *ops = find_built_in(name);
    char                     file[PATH_MAX];
    if (listed(registry, name)) return 0;
    if (ops) return add(registry, ops, NULL, NULL);
    if (find_module(path, name, file)) return add_module(registry, name, file, true);
    report_unknown(name, path);
    return -EINVAL;
}

static int add_all_named(struct shmemt_registry *registry, const char *names, const char *path)
{
    const char *part;
    size_t      bytes;
    while (next_part(&names, ',', &part, &bytes)) {
        char name[NAME_BYTES_MAX + 1];
        while (bytes > 0 && (*part == ' ' || *part == '\t')) part++, bytes--;
        while (bytes > 0 && (part[bytes - 1] == ' ' || part[bytes - 1] == '\t')) bytes--;
        if (bytes == 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), part);
        int err = add_named(registry, name, path);
        if (err) return err;
    }
    return 0;
}

/* The name between prefix and suffix; glob has checked both. */
static void module_name(const char *file, char name_out[NAME_BYTES_MAX + 1])
{
    const char *base = strrchr(file, '/') + 1 + strlen(MODULE_PREFIX);
    snprintf(name_out, NAME_BYTES_MAX + 1, "%.*s", (int)(strlen(base) - strlen(MODULE_SUFFIX)), base);
}

/* Nothing was named: all built in, then the modules of each folder, sorted by name. The first of a name wins. */
static int add_everything(struct shmemt_registry *registry, const char *path)
{
    const char *folder;
    size_t      bytes;
    int         err = 0;
    for (size_t i = 0; i < BUILT_IN_COUNT && !err; i++) err = add(registry, built_in[i], NULL, NULL);
    while (!err && path && next_part(&path, ':', &folder, &bytes)) {
        char   pattern[PATH_MAX];
        glob_t found;
        if (snprintf(pattern, sizeof pattern, "%.*s/" MODULE_PREFIX "*" MODULE_SUFFIX, (int)bytes, folder) >= PATH_MAX) continue;
        if (glob(pattern, 0, NULL, &found) != 0) continue; /* a folder without modules: nothing was asked of it by name */
        for (size_t i = 0; i < found.gl_pathc && !err; i++) {
            char name[NAME_BYTES_MAX + 1];
            module_name(found.gl_pathv[i], name);
            if (!listed(registry, name)) err = add_module(registry, name, found.gl_pathv[i], false);
        }
        globfree(&found);
    }
    return err;
}

int shmemt_registry_open(const char *names, const char *path, struct shmemt_registry *registry_out)
{
    struct shmemt_registry registry = {0};
    int                    err      = names && *names ? add_all_named(&registry, names, path) : add_everything(&registry, path);
    if (!err && registry.count == 0) {
        shmemi_error("cannot use POSTERN_TRANSPORTS=\"%s\"" WHY "it names no transport" FIX "name at least one, such as %s", names,
                     built_in[0]->name);
        err = -EINVAL;
    }
    if (err) {
        shmemt_registry_close(&registry);
        return err;
    }
    *registry_out = registry;
    return 0;
}

void shmemt_registry_close(struct shmemt_registry *registry)
{
    if (!registry) return;
    for (size_t i = 0; i < registry->count; i++)
        if (registry->module[i]) close_module(registry->module[i]);
    *registry = (struct shmemt_registry){0};
}
