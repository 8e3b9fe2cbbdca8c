/* SPDX-License-Identifier: Apache-2.0
 *
 * The room is the smallest of all limits, and the message says which, in trees of /proc and /sys as machines and containers have them.
 */
#include "runtime/pages.h"

#include "tests/unit/unit.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#define MIB UINT64_C(1048576)

#define MEMINFO                                                                                                                 \
    {                                                                                                                           \
        "/proc/meminfo",                                                                                                        \
            "MemTotal:  8388608 kB\nMemFree:  1048576 kB\nMemAvailable:  4194304 kB\nCached:  2097152 kB\nSwapFree: 0 kB\n"     \
            "CommitLimit:  6291456 kB\nCommitted_AS:  5242880 kB\nHugePages_Free:  0\nHugePages_Rsvd:  0\nHugepagesize:  2048 " \
            "kB\n"                                                                                                              \
    }
#define LIMITS(as, fs)                                                                                          \
    {                                                                                                           \
        "/proc/self/limits", "Limit                     Soft Limit           Hard Limit           Units     \n" \
                             "Max file size             " fs "            unlimited            bytes     \n"    \
                             "Max address space         " as "            unlimited            bytes     \n"    \
    }
#define MOUNTS_V2                                                                                                 \
    {                                                                                                             \
        "/proc/self/mountinfo", "22 1 0:21 / /proc rw,relatime - proc proc rw\n"                                  \
                                "30 1 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n" \
    }
#define MOUNTS_V1(top)                                                                                    \
    {                                                                                                     \
        "/proc/self/mountinfo", "29 1 0:25 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"                        \
                                "30 29 0:26 " top " /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"       \
                                "31 29 0:27 " top " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" \
    }
#define NO_LIMIT_V1 "9223372036854771712\n"

static const struct room_case {
    const char *name;
    uint64_t    mib;
    const char *limit;
    struct {
        const char *path, *text;
    } files[16];
} cases[] = {
    {"nothing can be read", UINT64_MAX / MIB, "no known limit", {{NULL, NULL}}},
    {"memory alone", 4096, "MemAvailable", {MEMINFO}},
    {"a kernel without MemAvailable", 3072, "MemAvailable", {{"/proc/meminfo", "MemFree:  1048576 kB\nCached:  2097152 kB\n"}}},
    {"huge pages set aside are more than memory",
     6144,
     "free huge pages",
     {{"/proc/meminfo", "MemAvailable:  1048576 kB\nHugePages_Free:  4096\nHugePages_Rsvd:  1024\nHugepagesize:  2048 kB\n"}}},
    {"huge pages set aside are less than memory",
     1024,
     "MemAvailable",
     {{"/proc/meminfo", "MemAvailable:  1048576 kB\nHugePages_Free:  400\nHugePages_Rsvd:  0\nHugepagesize:  2048 kB\n"}}},
    {"version 2, own group",
     300,
     "cgroup limit of /sys/fs/cgroup/user/job",
     {MEMINFO,
      MOUNTS_V2,
      {"/proc/self/cgroup", "0::/user/job\n"},
      {"/sys/fs/cgroup/user/job/memory.max", "536870912\n"}, /* 512 MiB */
      {"/sys/fs/cgroup/user/job/memory.high", "max\n"},
      {"/sys/fs/cgroup/user/job/memory.current", "314572800\n"}, /* 300 MiB, of which 88 can be dropped */
      {"/sys/fs/cgroup/user/job/memory.stat",
       "anon 1\nfile 99\ninactive_file 41943040\nactive_file 41943040\nslab_reclaimable 8388608\n"},
      {"/sys/fs/cgroup/user/memory.max", "max\n"},
      {"/sys/fs/cgroup/user/memory.current", "1\n"}}},
    {"version 2, the group above is tighter",
     100,
     "cgroup limit of /sys/fs/cgroup/user",
     {MEMINFO,
      MOUNTS_V2,
      {"/proc/self/cgroup", "0::/user/job\n"},
      {"/sys/fs/cgroup/user/job/memory.max", "536870912\n"},
      {"/sys/fs/cgroup/user/job/memory.current", "0\n"},
      {"/sys/fs/cgroup/user/memory.max", "1073741824\n"},
      {"/sys/fs/cgroup/user/memory.current", "968884224\n"}}},
    {"version 2, the soft limit",
     64,
     "cgroup limit of /sys/fs/cgroup/job",
     {MEMINFO,
      MOUNTS_V2,
      {"/proc/self/cgroup", "0::/job\n"},
      {"/sys/fs/cgroup/job/memory.max", "max\n"},
      {"/sys/fs/cgroup/job/memory.high", "67108864\n"},
      {"/sys/fs/cgroup/job/memory.current", "0\n"}}},
    {"version 2, usage beyond the limit",
     0,
     "cgroup limit of /sys/fs/cgroup/job",
     {MEMINFO,
      MOUNTS_V2,
      {"/proc/self/cgroup", "0::/job\n"},
      {"/sys/fs/cgroup/job/memory.max", "1048576\n"},
      {"/sys/fs/cgroup/job/memory.current", "2097152\n"}}},
    {"version 2 in a container with a name space of its own",
     200,
     "cgroup limit of /sys/fs/cgroup",
     {MEMINFO,
      MOUNTS_V2,
      {"/proc/self/cgroup", "0::/\n"},
      {"/sys/fs/cgroup/memory.max", "209715200\n"},
      {"/sys/fs/cgroup/memory.current", "0\n"}}},
    {"version 2, a group outside of what is mounted",
     200,
     "cgroup limit of /sys/fs/cgroup",
     {MEMINFO,
      MOUNTS_V2,
      {"/proc/self/cgroup", "0::/../other\n"},
      {"/sys/fs/cgroup/memory.max", "209715200\n"},
      {"/sys/fs/cgroup/memory.current", "0\n"}}},
    {"version 1, own group",
     256,
     "cgroup limit of /sys/fs/cgroup/memory/slurm/job",
     {MEMINFO,
      MOUNTS_V1("/"),
      {"/proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/slurm/job\n3:memory_like:/no\n0::/\n"},
      {"/sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "536870912\n"},
      {"/sys/fs/cgroup/memory/slurm/job/memory.usage_in_bytes", "402653184\n"},
      {"/sys/fs/cgroup/memory/slurm/job/memory.stat",
       "inactive_file 7\ntotal_inactive_file 67108864\ntotal_active_file 67108864\n"},
      {"/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", NO_LIMIT_V1},
      {"/sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "0\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", NO_LIMIT_V1}}},
    {"version 1 in a container that sees the host's name of its group",
     128,
     "cgroup limit of /sys/fs/cgroup/memory",
     {MEMINFO,
      MOUNTS_V1("/docker/abc"),
      {"/proc/self/cgroup", "4:memory:/docker/abc\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "134217728\n"},
      {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "0\n"}}},
    {"version 1 without a limit",
     4096,
     "MemAvailable",
     {MEMINFO,
      MOUNTS_V1("/"),
      {"/proc/self/cgroup", "4:memory:/\n"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", NO_LIMIT_V1},
      {"/sys/fs/cgroup/memory/memory.usage_in_bytes", "123456\n"}}},
    {"address space",
     900,
     "RLIMIT_AS, ulimit -v",
     {MEMINFO, LIMITS("1048576000", "unlimited"), {"/proc/self/statm", "25600 1 1 1 0 1 0\n"}}},
    {"size of a file", 50, "RLIMIT_FSIZE, ulimit -f", {MEMINFO, LIMITS("unlimited", "52428800")}},
    {"no limits of the process", 4096, "MemAvailable", {MEMINFO, LIMITS("unlimited", "unlimited")}},
    {"strict overcommit",
     1024,
     "CommitLimit, since vm.overcommit_memory is 2",
     {MEMINFO, {"/proc/sys/vm/overcommit_memory", "2\n"}}},
    {"free overcommit", 4096, "MemAvailable", {MEMINFO, {"/proc/sys/vm/overcommit_memory", "1\n"}}},
};

static void write_file(const char *root, const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(full, 0700);
    }
    FILE *file = fopen(full, "w");
    CHECK(file != NULL);
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

/* The address space used is counted in pages, whose size the recorded tree cannot say. */
static uint64_t expected_mib(const struct room_case *one)
{
    if (one->mib == 900) return 1000 - 25600 * (uint64_t)sysconf(_SC_PAGESIZE) / MIB;
    return one->mib;
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char root[64];
        snprintf(root, sizeof root, "%s/postern-room-XXXXXX",
                 getenv("TMPDIR") && strlen(getenv("TMPDIR")) < 40 ? getenv("TMPDIR") : "/tmp");
        if (!mkdtemp(root)) return unit_skip("no temporary folder");
        for (size_t f = 0; cases[i].files[f].path; f++) write_file(root, cases[i].files[f].path, cases[i].files[f].text);
        printf("%s\n", cases[i].name);
        struct shmemi_pages_room room = {.bytes = 1};
        CHECK_EQ_I64(shmemi_pages_room(root, &room), 0);
        CHECK_EQ_U64(room.bytes / MIB, expected_mib(&cases[i]));
        CHECK_STR(room.limit, cases[i].limit);
        nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }

    /* This machine's own. */
    struct shmemi_pages_room room;
    CHECK_EQ_I64(shmemi_pages_room("", &room), 0);
    CHECK(room.bytes > 0);
    printf("here: %" PRIu64 " MiB, %s\n", room.bytes / MIB, room.limit);
    return unit_result();
}
