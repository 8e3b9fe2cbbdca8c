/* SPDX-License-Identifier: Apache-2.0
 *
 * The CPU quota of a control group is found in trees as they look on machines and in containers, v1 and v2, and the smallest
 * one on the way up counts.
 */
#include "tests/unit/unit.h"

#include "runtime/base/host.h"

#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "/tmp/postern-unit-XXXXXX";

/* Write one file below root, with its folders. */
static void put_file(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *slash = full + strlen(root) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) {
        perror(full);
        exit(EXIT_FAILURE);
    }
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info, (void)kind, (void)walk;
    return remove(path);
}

static void remove_tree(void)
{
    nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void new_tree(void)
{
    remove_tree();
    strcpy(root + strlen(root) - 6, "XXXXXX");
    if (!mkdtemp(root)) {
        perror(root);
        exit(EXIT_FAILURE);
    }
}

#define MOUNT_V2 "25 1 0:22 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT_V1                                                                \
    "20 1 0:5 / /proc rw - proc proc rw\n"                                      \
    "31 1 0:27 / /sys/fs/cgroup/cpuset rw shared:9 - cgroup cgroup rw,cpuset\n" \
    "32 1 0:28 / /sys/fs/cgroup/cpu,cpuacct rw shared:10 - cgroup cgroup rw,cpu,cpuacct\n"

int main(void)
{
    /* Plain machine, v2: the group has no quota, its parent has 3.5 cores, and a group beside it has 1. */
    new_tree();
    CHECK_EQ_I64(shmemi_host_quota_cores(root), INT_MAX); /* no files at all */
    put_file("/proc/self/mountinfo", MOUNT_V2);
    CHECK_EQ_I64(shmemi_host_quota_cores(root), INT_MAX);
    put_file("/proc/self/cgroup", "0::/job.slice/step\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), INT_MAX);
    put_file("/sys/fs/cgroup/job.slice/step/cpu.max", "max 100000\n");
    put_file("/sys/fs/cgroup/job.slice/other/cpu.max", "100000 100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), INT_MAX);
    put_file("/sys/fs/cgroup/job.slice/cpu.max", "350000 100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 3);
    put_file("/sys/fs/cgroup/job.slice/step/cpu.max", "800000 100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 3); /* the parent's is smaller */
    put_file("/sys/fs/cgroup/job.slice/step/cpu.max", "20000 100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 1); /* a fifth of a core is still one */
    put_file("/sys/fs/cgroup/job.slice/step/cpu.max", "rubbish\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 3);

    /* Container with a namespace of its own, v2: the group is "/" and its quota lies at the mount. */
    new_tree();
    put_file("/proc/self/mountinfo", MOUNT_V2);
    put_file("/proc/self/cgroup", "0::/\n");
    put_file("/sys/fs/cgroup/cpu.max", "200000 100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 2);

    /* v1, as Docker shows it without such a namespace: the outside name, and the group as the mount's root. */
    new_tree();
    put_file("/proc/self/mountinfo",
             "32 1 0:28 /docker/abc /sys/fs/cgroup/cpu,cpuacct ro shared:10 - cgroup cgroup rw,cpu,cpuacct\n");
    put_file("/proc/self/cgroup", "5:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc/inner\n0::/docker/abc\n");
    put_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000\n");
    put_file("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 4);
    put_file("/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_quota_us", "100000\n");
    put_file("/sys/fs/cgroup/cpu,cpuacct/inner/cpu.cfs_period_us", "50000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 2);

    /* v1 on a plain machine: -1 is no quota, and cpuset is not cpu. */
    new_tree();
    put_file("/proc/self/mountinfo", MOUNT_V1);
    put_file("/proc/self/cgroup", "9:cpuset:/a\n8:cpuacct,cpu:/b\n");
    put_file("/sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_quota_us", "-1\n");
    put_file("/sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_period_us", "100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), INT_MAX);
    put_file("/sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_quota_us", "1600000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 16);

    /* Both kinds mounted: the smaller one. */
    put_file("/proc/self/mountinfo", MOUNT_V1 "41 1 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put_file("/proc/self/cgroup", "8:cpuacct,cpu:/b\n0::/c\n");
    put_file("/sys/fs/cgroup/unified/c/cpu.max", "900000 100000\n");
    CHECK_EQ_I64(shmemi_host_quota_cores(root), 9);
    remove_tree();

    /* This machine: at least one core, at most those of the affinity mask, and one after binding to one. */
    cpu_set_t set;
    CHECK(shmemi_host_cores() >= 1);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        CHECK(shmemi_host_cores() <= CPU_COUNT(&set));
        size_t first = 0;
        while (!CPU_ISSET(first, &set)) first++;
        CPU_ZERO(&set);
        CPU_SET(first, &set);
        CHECK_EQ_I64(sched_setaffinity(0, sizeof set, &set), 0);
        CHECK_EQ_I64(shmemi_host_cores(), 1);
    }
    return unit_result();
}
