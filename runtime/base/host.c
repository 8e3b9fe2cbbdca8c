/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts about the machine.
 *
 * Control groups: /proc/self/mountinfo says where the group file systems are, /proc/self/cgroup which group is ours. In a
 * container the group may be named from outside and not exist below the mount; then the mount's own root is our group. So the
 * walk takes what quotas it finds from the named group up to the mount and does not mind missing folders.
 *
 * Tests: tests/unit/host_*.c, with recorded trees.
 */
#include "runtime/base/host.h"

#include "runtime/base/attr.h"
#include "runtime/base/num.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void shmemi_host_name(char *name_out, size_t bytes)
{
    char name[HOST_NAME_MAX + 1];
    if (gethostname(name, sizeof name) != 0 || name[0] == '\0') strcpy(name, "localhost");
    name[sizeof name - 1] = '\0';
    snprintf(name_out, bytes, "%s", name);
}

size_t shmemi_host_page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

uint64_t shmemi_host_boot_id(void)
{
    char   id[64] = "";
    size_t length = 0;
    FILE  *file   = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        length = fread(id, 1, sizeof id, file);
        fclose(file);
    }
    if (length == 0) { /* no /proc: the name is the best there is */
        shmemi_host_name(id, sizeof id);
        length = strlen(id);
    }
    return shmemi_hash(0, id, length);
}

uint64_t shmemi_host_groups(void)
{
    char    text[4096], space[64];
    int     fd    = open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof text), named = readlink("/proc/self/ns/cgroup", space, sizeof space);
    if (fd >= 0) close(fd);
    if (bytes <= 0 || bytes == (ssize_t)sizeof text || named <= 0) return 0;
    uint64_t hash = shmemi_hash(shmemi_hash(0, text, (size_t)bytes), space, (size_t)named);
    return hash != 0 ? hash : 1;
}

/* ---- cores ---- */

/* The kernel refuses a set smaller than its own, so ask with larger ones until it fits. */
static int affinity_cores(void)
{
    for (int room = CPU_SETSIZE; room <= 1 << 20; room *= 2) {
        cpu_set_t *set   = CPU_ALLOC((size_t)room);
        size_t     bytes = CPU_ALLOC_SIZE((size_t)room);
        if (!set) break;
        int err   = sched_getaffinity(0, bytes, set) ? errno : 0;
        int cores = err ? 0 : CPU_COUNT_S(bytes, set);
        CPU_FREE(set);
        if (!err) return cores;
        if (err != EINVAL) break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

void shmemi_host_cpus(uint64_t *set_out, size_t words)
{
    memset(set_out, 0, words * sizeof *set_out);
    for (int room = CPU_SETSIZE; room <= 1 << 20; room *= 2) {
        cpu_set_t *set   = CPU_ALLOC((size_t)room);
        size_t     bytes = CPU_ALLOC_SIZE((size_t)room);
        if (!set) return;
        int err = sched_getaffinity(0, bytes, set) ? errno : 0;
        for (size_t i = 0; i < (size_t)room && !err; i++)
            if (CPU_ISSET_S(i, bytes, set)) set_out[i / 64 % words] |= UINT64_C(1) << i % 64;
        CPU_FREE(set);
        if (err != EINVAL) return;
    }
}

int shmemi_host_cores(void)
{
    int cores = affinity_cores();
    int quota = shmemi_host_quota_cores("");
    if (quota < cores) cores = quota;
    return cores > 1 ? cores : 1;
}

/* ---- CPU quota ---- */

/* A mounted group file system, and our group below it. */
struct group {
    bool v2;
    char mount[PATH_MAX]; /* where it is mounted                    */
    char top[PATH_MAX];   /* which group the mount shows as its root */
    char path[PATH_MAX];  /* our group, as /proc/self/cgroup names it */
};

/* Is word one of the comma-separated words of list? */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        if (*at == ',') at++;
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0')) return true;
    }
    return false;
}

static FILE *open_below(const char *root, const char *path)
{
    char full[2 * PATH_MAX];
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full) return NULL;
    return fopen(full, "re");
}

/* A whole file with a NUL behind it, or NULL. */
static char *read_text(const char *root, const char *path)
{
    FILE *file = open_below(root, path);
    if (!file) return NULL;
    char  *text = NULL;
    size_t room = 0;
    if (getdelim(&text, &room, '\0', file) < 0) { /* none of them holds a NUL */
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* Copy the next line and move on. False at the end. */
static bool next_line(const char **at, char *line, size_t line_bytes)
{
    if (**at == '\0') return false;
    size_t length = strcspn(*at, "\n");
    size_t kept   = length < line_bytes ? length : line_bytes - 1;
    memcpy(line, *at, kept);
    line[kept] = '\0';
    *at += length + ((*at)[length] == '\n');
    return true;
}

/* SPEC proc(5) mountinfo: id parent major:minor root mount options [more...] - type source super-options */
static bool find_mount(const char *mountinfo, struct group *group)
{
    char line[3 * PATH_MAX];
    bool found = false;
    while (!found && next_line(&mountinfo, line, sizeof line)) {
        char  type[32], options[1024];
        char *tail = strstr(line, " - ");
        if (!tail || sscanf(tail, " - %31s %*s %1023s", type, options) != 2) continue;
        if (strcmp(type, group->v2 ? "cgroup2" : "cgroup") != 0 || (!group->v2 && !has_word(options, "cpu"))) continue;
        static_assert(PATH_MAX == 4096, "the widths below");
        found = sscanf(line, "%*s %*s %*s %4095s %4095s", group->top, group->mount) == 2;
    }
    return found;
}

/* SPEC cgroups(7) /proc/self/cgroup: hierarchy:controllers:path; v2 has hierarchy 0 and no controllers. */
static bool find_path(const char *own_groups, struct group *group)
{
    char line[PATH_MAX + 256];
    bool found = false;
    while (!found && next_line(&own_groups, line, sizeof line)) {
        char *controllers = strchr(line, ':');
        char *path        = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *controllers++ = '\0';
        *path++        = '\0';
        found          = group->v2 ? strcmp(line, "0") == 0 && *controllers == '\0' : has_word(controllers, "cpu");
        if (found) snprintf(group->path, sizeof group->path, "%s", path);
    }
    return found;
}

/* The first words of a file as numbers; "max" is -1. How many were read. */
static int read_numbers(const char *root, const char *folder, const char *name, long long *first, long long *second)
{
    char path[2 * PATH_MAX], text[64] = "", word[32] = "";
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) return 0;
    FILE *file = open_below(root, path);
    if (!file) return 0;
    bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    if (!read || sscanf(text, "%31s", word) != 1) return 0;
    if (strcmp(word, "max") == 0) {
        *first = -1;
        return 1;
    }
    return sscanf(text, "%lld %lld", first, second);
}

/* Whole cores of one group alone; INT_MAX if it sets no quota. */
static int quota_of(const char *root, const char *folder, bool v2)
{
    long long quota_us = -1, period_us = 0, unused = 0;
    bool      known;
    if (v2) {
        known = read_numbers(root, folder, "cpu.max", &quota_us, &period_us) == 2;
    } else {
        known = read_numbers(root, folder, "cpu.cfs_quota_us", &quota_us, &unused) >= 1 &&
                read_numbers(root, folder, "cpu.cfs_period_us", &period_us, &unused) >= 1;
    }
    if (!known || quota_us <= 0 || period_us <= 0 || quota_us / period_us > INT_MAX) return INT_MAX;
    int cores = (int)(quota_us / period_us);
    return cores > 1 ? cores : 1;
}

static int quota_upwards(const char *root, const struct group *group)
{
    /* Without a namespace of its own a container sees its outside name here and the group itself as the mount's root. */
    const char *below      = group->path;
    size_t      top_length = strcmp(group->top, "/") == 0 ? 0 : strlen(group->top);
    if (strncmp(below, group->top, top_length) == 0 && (below[top_length] == '/' || below[top_length] == '\0')) below += top_length;

    char   folder[2 * PATH_MAX];
    size_t mount_length = strlen(group->mount);
    snprintf(folder, sizeof folder, "%s%s", group->mount, below);

    int least = INT_MAX;
    for (;;) {
        int cores = quota_of(root, folder, group->v2);
        if (cores < least) least = cores;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < mount_length) return least;
        *slash = '\0';
    }
}

int shmemi_host_quota_cores(const char *root)
{
    int                    least      = INT_MAX;
    SHMEMI_AUTO_FREE char *mountinfo  = read_text(root, "/proc/self/mountinfo");
    SHMEMI_AUTO_FREE char *own_groups = read_text(root, "/proc/self/cgroup");
    if (!mountinfo || !own_groups) return INT_MAX;
    for (int v2 = 0; v2 <= 1; v2++) { /* a machine may have both; only one of them holds the cpu controller */
        struct group group = {.v2 = v2};
        if (!find_mount(mountinfo, &group) || !find_path(own_groups, &group)) continue;
        int cores = quota_upwards(root, &group);
        if (cores < least) least = cores;
    }
    return least;
}
