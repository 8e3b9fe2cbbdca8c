/* SPDX-License-Identifier: Apache-2.0
 *
 * What this process may not do or have: memory that stays in place, debuggers, control groups, the walls of a container.
 */
#include "runtime/tools/doctor.h"
#include "runtime/base/host.h"

#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>

/* The default heap of a PE; below that a job of one PE already fails. */
#define HEAP_BYTES ((uint64_t)256 << 20)

/* ---- who and where we are ---- */

const char *doctor_container(const struct doctor *doctor)
{
    static const char *const words[] = {"docker", "kubepods", "libpod", "lxc"};
    if (doctor_exists(doctor, "/.dockerenv")) return "docker";
    if (doctor_exists(doctor, "/run/.containerenv")) return "podman";
    SHMEMI_AUTO_FREE char *groups = doctor_read_text(doctor, "/proc/self/cgroup");
    for (size_t i = 0; groups && i < sizeof words / sizeof words[0]; i++) {
        if (strstr(groups, words[i])) return words[i];
    }
    return NULL;
}

bool doctor_capable(const struct doctor *doctor, int capability)
{
    SHMEMI_AUTO_FREE char *status = doctor_read_text(doctor, "/proc/self/status");
    const char            *line   = status ? strstr(status, "\nCapEff:") : NULL;
    return line && (strtoull(line + strlen("\nCapEff:"), NULL, 16) >> capability & 1);
}

/* The kernel asks for CAP_IPC_LOCK over the whole machine: root of a user namespace of its own has it over that alone. */
static bool may_exceed_memlock(const struct doctor *doctor)
{
    char          map[64];
    unsigned long inside, outside, count;
    bool          mapped = doctor_read_line(doctor, map, sizeof map, "/proc/self/uid_map") &&
                  sscanf(map, "%lu %lu %lu", &inside, &outside, &count) == 3 &&
                  !(inside == 0 && outside == 0 && count == UINT32_MAX);
    return !mapped && doctor_capable(doctor, CAP_IPC_LOCK);
}

/* "0-3,8-11" */
int doctor_cpus(const struct doctor *doctor)
{
    char        line[4096];
    int         count = 0;
    const char *at    = line;
    doctor_read_line(doctor, line, sizeof line, "/sys/devices/system/cpu/online");
    while (*at >= '0' && *at <= '9') {
        char *end;
        long  first = strtol(at, &end, 10), last = first;
        if (*end == '-') last = strtol(end + 1, &end, 10);
        count += (int)(last - first) + 1;
        at = *end == ',' ? end + 1 : end;
    }
    return count > 0 ? count : 1;
}

static uint64_t memory_bytes(const struct doctor *doctor)
{
    SHMEMI_AUTO_FREE char *text = doctor_read_text(doctor, "/proc/meminfo");
    const char            *line = text ? strstr(text, "MemTotal:") : NULL;
    return line ? strtoull(line + strlen("MemTotal:"), NULL, 10) << 10 : 0;
}

/* 65536 is "64 KiB" */
static const char *readable(uint64_t bytes, char text_out[32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    size_t                   unit    = 0;
    while (bytes >= 10240 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes >>= 10;
        unit++;
    }
    snprintf(text_out, 32, "%" PRIu64 " %s", bytes, units[unit]);
    return text_out;
}

/* ---- memory that stays in place ---- */

/* "Max locked memory         8388608              unlimited            bytes" */
static uint64_t limit_of(const char *word)
{
    return strcmp(word, "unlimited") == 0 ? UINT64_MAX : strtoull(word, NULL, 10);
}

static void look_memlock(struct doctor *doctor, const struct doctor_devices *devices)
{
    static const char      name[]   = "Max locked memory";
    SHMEMI_AUTO_FREE char *limits   = doctor_read_text(doctor, "/proc/self/limits");
    const char            *line     = limits ? strstr(limits, name) : NULL;
    char                   soft[32] = "", hard[32] = "", text[32];
    if (!line || sscanf(line + sizeof name - 1, "%31s %31s", soft, hard) != 2) return;
    uint64_t limit = limit_of(soft);
    if (limit == UINT64_MAX || may_exceed_memlock(doctor)) {
        doctor_find(doctor, DOCTOR_OK, "memlock", "", "%s",
                    limit == UINT64_MAX ? "unlimited" : "limited, but this process may exceed it (CAP_IPC_LOCK)");
        return;
    }
    readable(limit, text);
    if (devices->rdma_count == 0) {
        doctor_find(doctor, DOCTOR_OK, "memlock", "", "%s; without an RDMA device nothing needs it", text);
        return;
    }
    if (limit >= memory_bytes(doctor)) {
        doctor_find(doctor, DOCTOR_OK, "memlock", "", "%s, more than there is memory", text);
        return;
    }
    const char *container = doctor_container(doctor);
    const char *fix =
        limit_of(hard) == UINT64_MAX ? "ulimit -l unlimited, in the shell that starts the job"
        : container                  ? "start the container with --ulimit memlock=-1 or --cap-add=IPC_LOCK"
                    : "printf '* - memlock unlimited\\n' >/etc/security/limits.d/rdma.conf, then log in again; for services and "
                      "Slurm's slurmd: LimitMEMLOCK=infinity in the unit";
    doctor_find(doctor, limit < HEAP_BYTES ? DOCTOR_MISSING : DOCTOR_DEGRADED, "memlock", "",
                "%s may be registered with an RDMA device" WHY "%s" FIX "%s", text,
                limit < HEAP_BYTES ? "not even the default heap of one PE can be registered, so jobs over RDMA do not start"
                                   : "jobs over RDMA with larger heaps do not start",
                fix);
}

/* ---- debuggers ---- */

/* Nothing in the library traces; but who looks for a hang wants to. */
static void look_ptrace(struct doctor *doctor)
{
    uint64_t scope;
    doctor_read_number(doctor, &scope, "/proc/sys/kernel/yama/ptrace_scope"); /* absent: as 0 */
    if (scope == 0 || doctor_capable(doctor, CAP_SYS_PTRACE)) {
        doctor_find(doctor, DOCTOR_OK, "ptrace", "", "a debugger can attach to a running PE");
    } else if (scope == 1) {
        doctor_find(doctor, DOCTOR_OK, "ptrace", "",
                    "a debugger can start a PE; only root can attach to one that runs (ptrace_scope 1)");
    } else if (scope == 2) {
        doctor_find(doctor, DOCTOR_DEGRADED, "ptrace", "",
                    "only root can use a debugger (ptrace_scope 2)" WHY
                    "gdb, gstack and strace cannot look at a PE that hangs (kill -USR2 of oshrun still tells where each waits)" FIX
                    "sysctl kernel.yama.ptrace_scope=1");
    } else {
        doctor_find(doctor, DOCTOR_DEGRADED, "ptrace", "",
                    "nobody can use a debugger (ptrace_scope 3)" WHY
                    "gdb, gstack and strace cannot look at a PE that hangs (kill -USR2 of oshrun still tells where each waits)" FIX
                    "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d and restart the machine: 3 cannot be taken back");
    }
}

/* ---- control groups ---- */

/* Our group below the mount of a controller, "" for its root. SPEC cgroups(7): lines of hierarchy:controllers:path; v2 has none. */
static void group_path(const struct doctor *doctor, const char *controller, bool v2, char *path_out, size_t bytes)
{
    SHMEMI_AUTO_FREE char *groups = doctor_read_text(doctor, "/proc/self/cgroup");
    char                  *rest   = NULL;
    path_out[0]                   = '\0';
    for (char *line = groups ? strtok_r(groups, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *path        = controllers ? strchr(++controllers, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        if (v2 ? *controllers != '\0' : strcmp(controllers, controller) != 0) continue;
        if (strcmp(path, "/") != 0) snprintf(path_out, bytes, "%s", path);
        return;
    }
}

/*
 * The smallest number in this file from our group up to the root, and the folder that has it. In a container the outer part of the
 * path may not be there; that does no harm. UINT64_MAX: no limit ("max", and v1's number beyond all memory).
 */
static uint64_t smallest_in(const struct doctor *doctor, const char *mount, char *path, const char *file, char *where_out,
                            size_t bytes)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        uint64_t limit;
        if (doctor_read_number(doctor, &limit, "%s%s/%s", mount, path, file) && limit < least && limit < (uint64_t)1 << 60) {
            least = limit;
            snprintf(where_out, bytes, "%s%s/%s", mount, path, file);
        }
        char *slash = strrchr(path, '/');
        if (!slash) return least;
        *slash = '\0';
    }
}

static uint64_t group_limit(const struct doctor *doctor, const char *controller, const char *file_v2, const char *file_v1,
                            char *where_out, size_t bytes)
{
    char path[PATH_MAX], mount[64];
    group_path(doctor, controller, true, path, sizeof path);
    uint64_t limit = smallest_in(doctor, "/sys/fs/cgroup", path, file_v2, where_out, bytes);
    if (limit != UINT64_MAX) return limit;
    snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controller);
    group_path(doctor, controller, false, path, sizeof path);
    return smallest_in(doctor, mount, path, file_v1, where_out, bytes);
}

static void look_memory_group(struct doctor *doctor, int cpus)
{
    char     where[PATH_MAX] = "", text[32], need[32];
    uint64_t limit           = group_limit(doctor, "memory", "memory.max", "memory.limit_in_bytes", where, sizeof where);
    uint64_t wanted          = (uint64_t)cpus * 2 * HEAP_BYTES; /* as much again for the program itself */
    if (limit == UINT64_MAX || limit >= wanted) {
        doctor_find(doctor, DOCTOR_OK, "cgroup-memory", "", "%s", limit == UINT64_MAX ? "no limit" : readable(limit, text));
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "cgroup-memory", "",
                "%s for all processes here (%s)" WHY
                "one PE on each of %d CPUs with the default heap would want %s: heaps are made smaller, or the job is killed" FIX
                "%s",
                readable(limit, text), where, cpus, readable(wanted, need),
                doctor_container(doctor)
                    ? "start the container with a larger --memory (Kubernetes: resources.limits.memory)"
                    : "ask the batch system for more (srun --mem), or: systemctl set-property UNIT MemoryMax=infinity");
}

static void look_cpu_group(struct doctor *doctor, int cpus)
{
    int quota = shmemi_host_quota_cores(doctor->root);
    if (quota >= cpus) {
        doctor_find(doctor, DOCTOR_OK, "cgroup-cpu", "", "no quota that would be felt (%d CPUs)", cpus);
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "cgroup-cpu", "",
                "a quota of %d of %d CPUs" WHY
                "PEs beyond that are stopped for the rest of each period, often for tens of milliseconds" FIX
                "%s, or start at most %d PEs here",
                quota, cpus,
                doctor_container(doctor) ? "start the container without --cpus; --cpuset-cpus gives whole CPUs without stops"
                                         : "systemctl set-property UNIT CPUQuota=",
                quota);
}

static void look_pids_group(struct doctor *doctor, int cpus)
{
    enum { PER_PE = 16 }; /* a PE has a few threads of its own, and a program may bring more */
    char     where[PATH_MAX] = "";
    uint64_t limit           = group_limit(doctor, "pids", "pids.max", "pids.max", where, sizeof where);
    if (limit == UINT64_MAX || limit >= (uint64_t)cpus * PER_PE) {
        doctor_find(doctor, DOCTOR_OK, "cgroup-pids", "", "room for PEs and their threads");
        return;
    }
    doctor_find(doctor, DOCTOR_DEGRADED, "cgroup-pids", "",
                "%" PRIu64 " processes and threads (%s)" WHY "jobs of a PE on each of %d CPUs may fail to start threads" FIX "%s",
                limit, where, cpus,
                doctor_container(doctor) ? "start the container with --pids-limit=-1"
                                         : "systemctl set-property UNIT TasksMax=infinity");
}

/* rdma.max has a line for each device that is limited: "mlx5_0 hca_handle=2 hca_object=max". */
static void look_rdma_group(struct doctor *doctor, const struct doctor_rdma *device)
{
    char path[PATH_MAX];
    group_path(doctor, "rdma", true, path, sizeof path);
    for (;;) {
        SHMEMI_AUTO_FREE char *text = doctor_read_text(doctor, "/sys/fs/cgroup%s/rdma.max", path);
        char                  *rest = NULL;
        for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
            size_t length = strlen(device->name);
            if (strncmp(line, device->name, length) != 0 || line[length] != ' ') continue;
            if (strstr(line, "hca_handle=max") && strstr(line, "hca_object=max")) continue;
            doctor_find(doctor, DOCTOR_DEGRADED, "cgroup-rdma", device->name,
                        "the control group limits it:%s" WHY
                        "each PE opens the device once and makes queues and memory regions: a job may not start" FIX
                        "echo '%s hca_handle=max hca_object=max' >/sys/fs/cgroup%s/rdma.max",
                        line + length, device->name, path);
            return;
        }
        char *slash = strrchr(path, '/');
        if (!slash) break;
        *slash = '\0';
    }
    doctor_find(doctor, DOCTOR_OK, "cgroup-rdma", device->name, "no limit");
}

static void look_container(struct doctor *doctor, const struct doctor_devices *devices)
{
    const char *container = doctor_container(doctor);
    if (!container) doctor_find(doctor, DOCTOR_OK, "container", "", "not in one");
    else if (devices->rdma_count == 0) doctor_find(doctor, DOCTOR_OK, "container", "", "%s", container);
    else
        doctor_find(doctor, DOCTOR_OK, "container", "",
                    "%s; for RDMA it wants --device=/dev/infiniband --ulimit memlock=-1 --network=host (what lacks is told by its "
                    "own line)",
                    container);
}

void doctor_look_limits(struct doctor *doctor, const struct doctor_devices *devices)
{
    int cpus = doctor_cpus(doctor);
    look_memlock(doctor, devices);
    look_container(doctor, devices);
    look_memory_group(doctor, cpus);
    look_cpu_group(doctor, cpus);
    look_pids_group(doctor, cpus);
    for (int i = 0; i < devices->rdma_count; i++) look_rdma_group(doctor, &devices->rdma[i]);
    look_ptrace(doctor);
}
