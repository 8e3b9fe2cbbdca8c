/* SPDX-License-Identifier: Apache-2.0
 *
 * What this machine and its limits can still give: the smallest of available memory, the control groups' limits from our own up the
 * tree (both versions), the limits of this process, and strict overcommit.
 *
 * Tests: tests/unit/pages_room_*.
 */
#include "runtime/pages.h"

#include "runtime/base/attr.h"
#include "runtime/sysfile.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void take_smaller(struct shmemi_pages_room *room, uint64_t bytes, const char *limit)
{
    if (bytes >= room->bytes) return;
    room->bytes = bytes;
    snprintf(room->limit, sizeof room->limit, "%s", limit);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* What /proc/meminfo says, in KiB and pages. */
struct meminfo {
    uint64_t available, free, cached, swap_free, commit_limit, committed; /* KiB                       */
    uint64_t pool_page, pool_free, pool_promised;                         /* huge pages; page in KiB   */
};

static struct meminfo read_meminfo(const char *root)
{
    struct meminfo                    info     = {.available = UINT64_MAX};
    const struct shmemi_sysfile_field fields[] = {
        {"MemAvailable:", &info.available},
        {"MemFree:", &info.free},
        {"Cached:", &info.cached},
        {"SwapFree:", &info.swap_free},
        {"CommitLimit:", &info.commit_limit},
        {"Committed_AS:", &info.committed},
        {"HugePages_Free:", &info.pool_free},
        {"HugePages_Rsvd:", &info.pool_promised},
        {"Hugepagesize:", &info.pool_page},
    };
    unsigned found = shmemi_sysfile_fields(root, "/proc/meminfo", fields, sizeof fields / sizeof fields[0]);
    if (!(found & 1) && (found & 2)) info.available = info.free + info.cached; /* before Linux 3.14 */
    return info;
}

static uint64_t bytes_of_kib(uint64_t kib)
{
    return kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024;
}

/* What the machine has: memory, or huge pages that were set aside, where those are more. */
static void room_of_memory(const struct meminfo *info, struct shmemi_pages_room *room)
{
    uint64_t available = bytes_of_kib(info->available);
    uint64_t pool      = less(info->pool_free, info->pool_promised) * bytes_of_kib(info->pool_page);
    if (pool > available) {
        take_smaller(room, pool, "free huge pages");
    } else {
        take_smaller(room, available, "MemAvailable");
    }
}

/* Names of the files of one version of control groups, and of the lines in memory.stat that count what can be dropped. */
static const struct cgroup_names {
    const char *fs_type, *mount, *limit, *soft_limit, *usage, *droppable[3];
} cgroup_versions[] = {
    {"cgroup2",
     "/sys/fs/cgroup",
     "memory.max",
     "memory.high",
     "memory.current",
     {"inactive_file ", "active_file ", "slab_reclaimable "}},
    {"cgroup",
     "/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     NULL,
     "memory.usage_in_bytes",
     {"total_inactive_file ", "total_active_file ", "total_slab_reclaimable "}},
};

static bool read_cgroup(const char *folder, const char *file, uint64_t *number_out)
{
    char path[SHMEMI_SYSFILE_PATH_MAX];
    int  length = snprintf(path, sizeof path, "%s/%s", folder, file);
    return length > 0 && (size_t)length < sizeof path && shmemi_sysfile_number("", path, number_out);
}

/* Memory in use by a group that could not be dropped on demand. */
static uint64_t group_usage(const struct cgroup_names *names, const char *folder)
{
    char     stat[SHMEMI_SYSFILE_PATH_MAX];
    uint64_t usage = 0, droppable[3] = {0};
    read_cgroup(folder, names->usage, &usage);
    const struct shmemi_sysfile_field fields[] = {
        {names->droppable[0], &droppable[0]}, {names->droppable[1], &droppable[1]}, {names->droppable[2], &droppable[2]}};
    int length = snprintf(stat, sizeof stat, "%s/memory.stat", folder);
    if (length > 0 && (size_t)length < sizeof stat) shmemi_sysfile_fields("", stat, fields, 3);
    return less(usage, droppable[0] + droppable[1] + droppable[2]);
}

/* One group. folder is a full path; its part from `shown` on is for the message. */
static void room_of_group(const struct cgroup_names *names, const char *folder, const char *shown, struct shmemi_pages_room *room)
{
    uint64_t limit, soft_limit;
    char     words[sizeof room->limit];
    if (!read_cgroup(folder, names->limit, &limit)) return;
    /* Beyond the soft limit of version 2 a group is slowed down until it stands still: memfd pages cannot be dropped. */
    if (names->soft_limit && read_cgroup(folder, names->soft_limit, &soft_limit) && soft_limit < limit) limit = soft_limit;
    if (limit >= room->bytes && limit >= UINT64_MAX / 4) return; /* none: "max", or version 1's largest number */
    snprintf(words, sizeof words, "cgroup limit of %.*s", (int)(sizeof words - sizeof "cgroup limit of "), shown);
    take_smaller(room, less(limit, group_usage(names, folder)), words);
}

static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length) {
        bool begins = at == list || at[-1] == ',', ends = at[length] == '\0' || at[length] == ',' || at[length] == '\n';
        if (begins && ends) return true;
    }
    return false;
}

/* Where this version is mounted and which group is the mount's root. False: no such mount. Without a mountinfo: the usual place. */
static bool find_cgroup_mount(const char *mountinfo, const struct cgroup_names *names, char *mount, char *top)
{
    if (!mountinfo) {
        snprintf(mount, SHMEMI_SYSFILE_PATH_MAX, "%s", names->mount);
        snprintf(top, SHMEMI_SYSFILE_PATH_MAX, "/");
        return true;
    }
    char line[3 * SHMEMI_SYSFILE_PATH_MAX], type[32], settings[256];
    bool found = false;
    while (!found && shmemi_sysfile_next_line(&mountinfo, line, sizeof line)) {
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(tail, " - %31s %*s %255s", type, settings) != 2 || strcmp(type, names->fs_type) != 0) continue;
        if (strcmp(type, "cgroup") == 0 && !has_word(settings, "memory")) continue;
        /* The widths are those of the buffers. */
        found = sscanf(line, "%*s %*s %*s %1023s %1023s", top, mount) == 2;
    }
    return found;
}

/* The group of this process: "0::/path" for version 2, "7:cpu,memory:/path" for version 1. */
static bool find_own_group(const char *own_groups, const struct cgroup_names *names, char *group)
{
    char line[SHMEMI_SYSFILE_PATH_MAX + 256];
    bool found = false, version_2 = strcmp(names->fs_type, "cgroup2") == 0;
    while (!found && shmemi_sysfile_next_line(&own_groups, line, sizeof line)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        found   = version_2 ? list[1] == '\0' : has_word(list + 1, "memory");
        if (found) snprintf(group, SHMEMI_SYSFILE_PATH_MAX, "%.*s", SHMEMI_SYSFILE_PATH_MAX - 1, path);
    }
    return found;
}

/* Of one version, every group from the process's own up to the highest that can be seen. */
static void room_of_version(const char *root, const struct cgroup_names *names, const char *own_groups, const char *mountinfo,
                            struct shmemi_pages_room *room)
{
    char mount[SHMEMI_SYSFILE_PATH_MAX], top[SHMEMI_SYSFILE_PATH_MAX], group[SHMEMI_SYSFILE_PATH_MAX],
        folder[3 * SHMEMI_SYSFILE_PATH_MAX];
    if (!find_own_group(own_groups, names, group) || !find_cgroup_mount(mountinfo, names, mount, top)) return;
    /* In a container the mount may begin at our own group, whose name is still the host's. */
    size_t      top_length = strcmp(top, "/") == 0 ? 0 : strlen(top);
    const char *below      = strncmp(group, top, top_length) == 0 ? group + top_length : "";
    if (*below != '/' || strstr(below, "/..") || below[1] == '\0') below = "";
    snprintf(folder, sizeof folder, "%s%s%s", root, mount, below);
    size_t root_length = strlen(root), mount_length = root_length + strlen(mount);
    for (size_t length = strlen(folder); length >= mount_length; length = (size_t)(strrchr(folder, '/') - folder)) {
        folder[length] = '\0';
        room_of_group(names, folder, folder + root_length, room);
    }
}

static void room_of_groups(const char *root, struct shmemi_pages_room *room)
{
    SHMEMI_AUTO_FREE char *own_groups = shmemi_sysfile_text(root, "/proc/self/cgroup");
    SHMEMI_AUTO_FREE char *mountinfo  = own_groups ? shmemi_sysfile_text(root, "/proc/self/mountinfo") : NULL;
    for (size_t i = 0; own_groups && i < sizeof cgroup_versions / sizeof cgroup_versions[0]; i++)
        room_of_version(root, &cgroup_versions[i], own_groups, mountinfo, room);
}

/* 1 and the limit, or 0 where there is none. */
static unsigned own_limit(__rlimit_resource_t what, uint64_t *bytes_out)
{
    struct rlimit limit;
    if (getrlimit(what, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return 0;
    *bytes_out = limit.rlim_cur;
    return 1;
}

/* The limits of this process. Its shared files count against the size of a file and, mapped, against the address space. */
static void room_of_limits(const char *root, struct shmemi_pages_room *room)
{
    uint64_t                          space = UINT64_MAX, file = UINT64_MAX, pages = 0;
    const struct shmemi_sysfile_field fields[] = {{"Max address space", &space}, {"Max file size", &file}};
    unsigned                          found    = 0;
    if (*root) {
        found = shmemi_sysfile_fields(root, "/proc/self/limits", fields, 2);
    } else { /* the same by two calls */
        found = own_limit(RLIMIT_AS, &space) | own_limit(RLIMIT_FSIZE, &file) << 1;
    }
    if (found & 1) {
        shmemi_sysfile_number(root, "/proc/self/statm", &pages);
        take_smaller(room, less(space, pages * (uint64_t)sysconf(_SC_PAGESIZE)), "RLIMIT_AS, ulimit -v");
    }
    if (found & 2) take_smaller(room, file, "RLIMIT_FSIZE, ulimit -f");
}

/* Under strict overcommit each page of a memfd is charged when it is first touched. */
static void room_of_commit(const char *root, const struct meminfo *info, struct shmemi_pages_room *room)
{
    uint64_t mode;
    if (!shmemi_sysfile_number(root, "/proc/sys/vm/overcommit_memory", &mode) || mode != 2) return;
    take_smaller(room, bytes_of_kib(less(info->commit_limit, info->committed)), "CommitLimit, since vm.overcommit_memory is 2");
}

int shmemi_pages_room(const char *root, struct shmemi_pages_room *room_out)
{
    struct shmemi_pages_room room = {.bytes = UINT64_MAX, .limit = "no known limit"};
    struct meminfo           info = read_meminfo(root);
    room_of_memory(&info, &room);
    room_of_groups(root, &room);
    room_of_limits(root, &room);
    room_of_commit(root, &info, &room);
    *room_out = room;
    return 0;
}

uint64_t shmemi_pages_room_left(void)
{
    struct shmemi_pages_room machine = {.bytes = UINT64_MAX}, groups = machine;
    struct meminfo           info = read_meminfo("");
    uint64_t                 swap = bytes_of_kib(info.swap_free);
    room_of_memory(&info, &machine);
    room_of_groups("", &groups);
    uint64_t most = machine.bytes > UINT64_MAX - swap ? UINT64_MAX : machine.bytes + swap;
    return groups.bytes < most ? groups.bytes : most;
}
