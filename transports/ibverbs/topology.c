/* SPDX-License-Identifier: Apache-2.0
 *
 * Distance between a device and the cores of a PE, from the files that the kernel writes: numa_node and local_cpulist of the device, cpulist and
 * distance of the NUMA nodes. hwloc reads the same files, and a good deal more: tens of milliseconds per PE for what five small files
 * say (docs/decisions/0014-choice-of-device.md).
 */
#include "transports/ibverbs/topology.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- sets of CPUs ---- */

static bool has(const struct ib_cpus *cpus, unsigned cpu)
{
    return cpus->words[cpu / 64] >> cpu % 64 & 1;
}

static void add(struct ib_cpus *cpus, unsigned cpu)
{
    cpus->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static struct ib_cpus both(const struct ib_cpus *a, const struct ib_cpus *b)
{
    struct ib_cpus result;
    for (int i = 0; i < IB_CPU_WORDS; i++) result.words[i] = a->words[i] & b->words[i];
    return result;
}

static bool none(const struct ib_cpus *cpus)
{
    uint64_t any = 0;
    for (int i = 0; i < IB_CPU_WORDS; i++) any |= cpus->words[i];
    return any == 0;
}

static bool meet(const struct ib_cpus *a, const struct ib_cpus *b)
{
    struct ib_cpus common = both(a, b);
    return !none(&common);
}

bool shmemt_ibverbs_topology_parse_cpus(const char *text, struct ib_cpus *cpus_out)
{
    struct ib_cpus cpus = {{0}};
    while (*text && *text != '\n') {
        char         *end;
        unsigned long first = strtoul(text, &end, 10), last = first;
        if (end == text) return false;
        if (*end == '-') {
            text = end + 1;
            last = strtoul(text, &end, 10);
            if (end == text || last < first) return false;
        }
        for (unsigned long cpu = first; cpu <= last && cpu < IB_CPUS_MAX; cpu++) add(&cpus, (unsigned)cpu);
        if (*end != ',' && *end != '\n' && *end != '\0') return false;
        text = *end == ',' ? end + 1 : end;
    }
    *cpus_out = cpus;
    return true;
}

void shmemt_ibverbs_topology_own_cpus(struct ib_cpus *cpus_out)
{
    struct ib_cpus cpus = {{0}};
    /* The kernel refuses a set smaller than its own, so ask with larger ones until it fits. */
    for (size_t room = IB_CPUS_MAX; room <= 1 << 20; room *= 2) {
        cpu_set_t *set   = CPU_ALLOC(room);
        size_t     bytes = CPU_ALLOC_SIZE(room);
        if (!set) break;
        int err = sched_getaffinity(0, bytes, set) ? errno : 0;
        for (unsigned cpu = 0; cpu < IB_CPUS_MAX && !err; cpu++)
            if (CPU_ISSET_S(cpu, bytes, set)) add(&cpus, cpu);
        CPU_FREE(set);
        if (err != EINVAL) break;
    }
    *cpus_out = cpus;
}

struct ib_cpus shmemt_ibverbs_topology_near(const struct ib_cpus *pe, const struct ib_place *place)
{
    struct ib_cpus common = both(pe, &place->cpus);
    return place->has_cpus && !none(&common) ? common : *pe;
}

bool shmemt_ibverbs_topology_print_cpus(const struct ib_cpus *cpus, char *text_out, size_t bytes)
{
    size_t used = 0;
    text_out[0] = '\0';
    for (unsigned cpu = 0; cpu < IB_CPUS_MAX; cpu++) {
        unsigned last = cpu;
        if (!has(cpus, cpu)) continue;
        while (last + 1 < IB_CPUS_MAX && has(cpus, last + 1)) last++;
        int more = snprintf(text_out + used, bytes - used, last > cpu ? "%s%u-%u" : "%s%u", used ? "," : "", cpu, last);
        if (more < 0 || (size_t)more >= bytes - used) {
            text_out[0] = '\0';
            return false;
        }
        used += (size_t)more;
        cpu = last;
    }
    return true;
}

/* ---- files ---- */

/* The first line of a file, without its newline. */
static bool read_line(const char *root, const char *path, char *line_out, size_t line_bytes)
{
    char full[PATH_MAX];
    if (snprintf(full, sizeof full, "%s%s", root, path) >= (int)sizeof full) return false;
    FILE *file = fopen(full, "re");
    if (!file) return false;
    bool good = fgets(line_out, (int)line_bytes, file) != NULL;
    fclose(file);
    if (good) line_out[strcspn(line_out, "\n")] = '\0';
    return good;
}

static bool read_cpus(const char *root, const char *path, struct ib_cpus *cpus_out)
{
    char line[IB_CPUS_MAX * 5 / 2]; /* every second CPU, written out */
    return read_line(root, path, line, sizeof line) && shmemt_ibverbs_topology_parse_cpus(line, cpus_out);
}

/* ---- NUMA nodes ---- */

static bool node_cpus(const char *root, unsigned node, struct ib_cpus *cpus_out)
{
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/cpulist", node);
    return read_cpus(root, path, cpus_out) && !none(cpus_out);
}

/* The nodes that there are, as a set with their numbers in place of CPUs. */
static bool read_nodes(const char *root, struct ib_cpus *nodes_out)
{
    return read_cpus(root, "/sys/devices/system/node/online", nodes_out);
}

/* One entry of the kernel's table. A row names the nodes that are there, in order, and leaves out the others. */
static unsigned node_distance(const char *root, const struct ib_cpus *nodes, unsigned from, unsigned to)
{
    char path[96], line[IB_CPUS_MAX];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%u/distance", from);
    if (!has(nodes, to) || !read_line(root, path, line, sizeof line)) return IB_DISTANCE_UNKNOWN;
    const char *at = line;
    for (unsigned node = 0; node <= to; node++) {
        char *end;
        if (!has(nodes, node)) continue;
        unsigned long distance = strtoul(at, &end, 10);
        if (end == at) break;
        if (node == to) return (unsigned)distance;
        at = end;
    }
    return IB_DISTANCE_UNKNOWN;
}

/* A PE that may run on several nodes is as near as the nearest of them: it can go there. */
static unsigned distance_to_node(const char *root, const struct ib_cpus *pe, unsigned to)
{
    struct ib_cpus nodes, cpus;
    unsigned       least = UINT_MAX;
    if (!read_nodes(root, &nodes)) return IB_DISTANCE_UNKNOWN;
    for (unsigned node = 0; node < IB_CPUS_MAX; node++) {
        if (!has(&nodes, node) || !node_cpus(root, node, &cpus) || !meet(&cpus, pe)) continue;
        unsigned distance = node_distance(root, &nodes, node, to);
        if (distance < least) least = distance;
    }
    return least == UINT_MAX ? IB_DISTANCE_UNKNOWN : least;
}

static unsigned count_nodes(const char *root)
{
    struct ib_cpus nodes;
    unsigned       count = 0;
    if (!read_nodes(root, &nodes)) return 0;
    for (unsigned node = 0; node < IB_CPUS_MAX; node++) count += has(&nodes, node);
    return count;
}

/* ---- devices ---- */

/* The folder of the hardware behind a device. A software device (Soft-RoCE) has none, but names its network interface. */
static bool find_hardware(const char *root, const char *device, char *folder, size_t folder_bytes)
{
    char path[256], line[64], interface[32];
    snprintf(folder, folder_bytes, "/sys/class/infiniband/%.64s/device", device);
    snprintf(path, sizeof path, "%.150s/numa_node", folder);
    if (read_line(root, path, line, sizeof line)) return true;
    snprintf(path, sizeof path, "/sys/class/infiniband/%.64s/parent", device);
    if (!read_line(root, path, interface, sizeof interface)) return false;
    snprintf(folder, folder_bytes, "/sys/class/net/%s/device", interface);
    snprintf(path, sizeof path, "%.150s/numa_node", folder);
    return read_line(root, path, line, sizeof line);
}

static unsigned distance_of(const char *root, const struct ib_place *place, const struct ib_cpus *pe)
{
    if (place->numa_node >= 0) {
        unsigned distance = distance_to_node(root, pe, (unsigned)place->numa_node);
        if (distance != IB_DISTANCE_UNKNOWN || !place->has_cpus) return distance;
        return meet(&place->cpus, pe) ? IB_DISTANCE_LOCAL : 2 * IB_DISTANCE_LOCAL;
    }
    return count_nodes(root) <= 1 ? IB_DISTANCE_LOCAL : IB_DISTANCE_UNKNOWN;
}

void shmemt_ibverbs_topology_place(const char *sys_root, const char *device, const struct ib_cpus *pe, struct ib_place *place_out)
{
    struct ib_place place = {.numa_node = -1};
    char            path[256], folder[192], line[64];
    snprintf(path, sizeof path, "%s/sys/class/infiniband/%.64s", sys_root, device);
    place.in_kernel = access(path, F_OK) == 0;
    if (find_hardware(sys_root, device, folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/numa_node", folder);
        if (read_line(sys_root, path, line, sizeof line)) place.numa_node = atoi(line);
        snprintf(path, sizeof path, "%s/local_cpulist", folder);
        place.has_cpus = read_cpus(sys_root, path, &place.cpus) && !none(&place.cpus);
        if (!place.has_cpus && place.numa_node >= 0) place.has_cpus = node_cpus(sys_root, (unsigned)place.numa_node, &place.cpus);
    }
    place.distance = distance_of(sys_root, &place, pe);
    *place_out     = place;
}

bool shmemt_ibverbs_topology_hw_counter(const char *sys_root, const char *device, int port, const char *name, uint64_t *value_out)
{
    char path[160], line[32], *end;
    snprintf(path, sizeof path, "/sys/class/infiniband/%.64s/ports/%d/hw_counters/%.48s", device, port, name);
    if (!read_line(sys_root, path, line, sizeof line)) return false;
    unsigned long long value = strtoull(line, &end, 10);
    if (end == line) return false;
    *value_out = value;
    return true;
}

unsigned shmemt_ibverbs_topology_rate_mbps(const char *sys_root, const char *device, int port)
{
    char   path[160], line[64];
    double gbps; /* "800 Gb/sec (4X XDR)", "2.5 Gb/sec (1X SDR)" */
    snprintf(path, sizeof path, "/sys/class/infiniband/%.64s/ports/%d/rate", device, port);
    if (!read_line(sys_root, path, line, sizeof line) || sscanf(line, "%lf Gb/sec", &gbps) != 1) return 0;
    return gbps > 0 && gbps < 1e6 ? (unsigned)(gbps * 1000) : 0;
}

/* ---- turns ---- */

/* Which of the nodes with CPUs holds all of the PE's: its place among them, how many there are, and its CPUs. -1: several, or none. */
static int home_of(const char *root, const struct ib_cpus *pe, int *homes_out, struct ib_cpus *cpus_out)
{
    struct ib_cpus nodes, cpus;
    int            homes = 0, home = -1, met = 0;
    if (!read_nodes(root, &nodes)) return -1;
    for (unsigned node = 0; node < IB_CPUS_MAX; node++) {
        if (!has(&nodes, node) || !node_cpus(root, node, &cpus)) continue; /* a node may hold memory alone */
        if (meet(&cpus, pe)) {
            home      = homes;
            *cpus_out = cpus;
            met++;
        }
        homes++;
    }
    *homes_out = homes;
    return met == 1 ? home : -1;
}

/* How many PEs as wide as this one find room in the node before it. */
static int place_in_node(const struct ib_cpus *pe, const struct ib_cpus *node)
{
    unsigned first = 0, before = 0, width = 0;
    while (first < IB_CPUS_MAX && !has(pe, first)) before += has(node, first++);
    while (first + width < IB_CPUS_MAX && has(pe, first + width)) width++;
    return width > 0 ? (int)(before / width) : 0;
}

int shmemt_ibverbs_topology_turn(const char *sys_root, const struct ib_cpus *pe, int local, int local_pes)
{
    struct ib_cpus cpus;
    int            homes = 0, home = home_of(sys_root, pe, &homes, &cpus);
    if (home < 0 || homes < 2) return local;
    /*
     * Launchers fill one node after the other, or deal the PEs out to the nodes in turn. Fits both: see which agrees with the place in the
     * node. In both cases the result numbers the PEs of the first node, then those of the second, and so on.
     */
    int  per_home = (local_pes + homes - 1) / homes, dealt = local / homes;
    bool fills = local / per_home == home, deals = local % homes == home;
    if (fills && deals && local % per_home != dealt && place_in_node(pe, &cpus) == dealt) fills = false;
    return deals && !fills ? home * per_home + dealt : local;
}
