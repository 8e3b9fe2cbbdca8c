/* SPDX-License-Identifier: Apache-2.0
 *
 * Which PE runs on which processors.
 *
 * Read: the processors we may use (sched_getaffinity), the nodes (/sys/devices/system/node) and, for as many cores as there are
 * PEs, the hardware threads of a core (.../cpuN/topology/thread_siblings_list). That is a handful of small files;
 * docs/decisions/0003-oshrun-topology.md says why no topology library does it.
 */
#include "runtime/tools/oshrun.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MAX  65536
#define NODES_MAX 1024

struct core {
    struct oshrun_cpus cpus; /* its hardware threads that we may use */
    int                first, node;
};

struct topology {
    const char               *root;
    const struct oshrun_cpus *allowed;
    size_t                    bytes;     /* of every set here                              */
    cpu_set_t               **node_cpus; /* allowed ones of each node that has any         */
    int                      *node_numbers;
    int                       nodes;
    struct core              *cores; /* in order of node, then processor; the first few */
    int                       core_count;
};

/* ---- sets ---------------------------------------------------------------------------------------------------------------- */

static int bits_of(size_t bytes)
{
    return (int)(bytes * 8);
}

static cpu_set_t *new_set(size_t bytes)
{
    return calloc(1, bytes);
}

int oshrun_bind_allowed(struct oshrun_cpus *cpus_out)
{
    for (int cpus = 1024; cpus <= CPUS_MAX; cpus *= 2) {
        size_t     bytes = CPU_ALLOC_SIZE((size_t)cpus);
        cpu_set_t *set   = new_set(bytes);
        if (set == NULL) return -ENOMEM;
        if (sched_getaffinity(0, bytes, set) == 0) {
            *cpus_out = (struct oshrun_cpus){.set = set, .bytes = bytes};
            return 0;
        }
        int err = errno;
        free(set);
        if (err != EINVAL) return -err; /* EINVAL: the kernel knows more processors than fit */
    }
    return -EINVAL;
}

void oshrun_bind_free_cpus(struct oshrun_cpus *cpus)
{
    free(cpus->set);
    cpus->set = NULL;
}

/* "0-3,8,10-11" into set, as far as it is in `only`. False if the text is no such list. */
static bool parse_list(const char *text, size_t bytes, const cpu_set_t *only, cpu_set_t *set)
{
    while (*text != '\0' && *text != '\n') {
        char *end;
        long  first = strtol(text, &end, 10), last = first;
        if (end == text || first < 0) return false;
        if (*end == '-') {
            const char *from = end + 1;
            last             = strtol(from, &end, 10);
            if (end == from || last < first) return false;
        }
        for (long cpu = first; cpu <= last && cpu < bits_of(bytes); cpu++) {
            if (only == NULL || CPU_ISSET_S((size_t)cpu, bytes, only)) CPU_SET_S((size_t)cpu, bytes, set);
        }
        if (*end != ',' && *end != '\0' && *end != '\n') return false;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

static void write_list(const cpu_set_t *set, size_t bytes, char *text, size_t text_bytes)
{
    size_t used = 0;
    text[0]     = '\0';
    for (int cpu = 0; cpu < bits_of(bytes); cpu++) {
        int last = cpu;
        if (!CPU_ISSET_S((size_t)cpu, bytes, set)) continue;
        while (last + 1 < bits_of(bytes) && CPU_ISSET_S((size_t)last + 1, bytes, set)) last++;
        if (used + 20 > text_bytes) {
            snprintf(text + used, text_bytes - used, ",...");
            return;
        }
        const char *comma = used > 0 ? "," : "";
        used += (size_t)(last > cpu ? snprintf(text + used, text_bytes - used, "%s%d-%d", comma, cpu, last)
                                    : snprintf(text + used, text_bytes - used, "%s%d", comma, cpu));
        cpu = last;
    }
}

/* ---- reading /sys -------------------------------------------------------------------------------------------------------- */

/* One line of a small file; false where there is none. */
static bool read_line(char *text, size_t text_bytes, const char *root, const char *format, int number)
{
    char   path[512];
    int    used = snprintf(path, sizeof path, "%s/devices/system/", root);
    size_t room = sizeof path - (size_t)used;
    if (used < 0 || (size_t)used >= sizeof path) return false;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(path + used, room, format, number); /* the formats are the constants below */
#pragma GCC diagnostic pop
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, text_bytes - 1);
    close(fd);
    if (got <= 0) return false;
    text[got] = '\0';
    return true;
}

static int add_node(struct topology *topology, int number, cpu_set_t *cpus)
{
    cpu_set_t **sets = realloc(topology->node_cpus, (size_t)(topology->nodes + 1) * sizeof sets[0]);
    if (sets != NULL) topology->node_cpus = sets;
    int *numbers = realloc(topology->node_numbers, (size_t)(topology->nodes + 1) * sizeof numbers[0]);
    if (numbers != NULL) topology->node_numbers = numbers;
    if (sets == NULL || numbers == NULL) return -ENOMEM;
    topology->node_cpus[topology->nodes]    = cpus;
    topology->node_numbers[topology->nodes] = number;
    topology->nodes++;
    return 0;
}

/* The nodes that have processors for us. A kernel without NUMA tells of none: then all is node 0. */
static int read_nodes(struct topology *topology)
{
    char       text[8192];
    size_t     bytes  = topology->bytes;
    cpu_set_t *online = new_set(NODES_MAX / 8);
    int        err    = online == NULL ? -ENOMEM : 0;
    bool       known =
        !err && read_line(text, sizeof text, topology->root, "node/online", 0) && parse_list(text, NODES_MAX / 8, NULL, online);
    for (int node = 0; known && !err && node < NODES_MAX; node++) {
        if (!CPU_ISSET_S((size_t)node, NODES_MAX / 8, online)) continue;
        cpu_set_t *cpus = new_set(bytes);
        if (cpus == NULL) {
            err = -ENOMEM;
        } else if (!read_line(text, sizeof text, topology->root, "node/node%d/cpulist", node) ||
                   !parse_list(text, bytes, topology->allowed->set, cpus) || CPU_COUNT_S(bytes, cpus) == 0) {
            free(cpus); /* memory only, or nothing that we may use */
        } else {
            err = add_node(topology, node, cpus);
            if (err) free(cpus);
        }
    }
    free(online);
    if (!err && topology->nodes == 0) {
        cpu_set_t *all = new_set(bytes);
        if (all == NULL) return -ENOMEM;
        memcpy(all, topology->allowed->set, bytes);
        err = add_node(topology, 0, all);
        if (err) free(all);
    }
    return err;
}

/* Append the core of one processor. Where /sys tells nothing, each processor is a core. */
static int add_core(struct topology *topology, int cpu, int node, cpu_set_t *taken)
{
    char       text[4096];
    size_t     bytes   = topology->bytes;
    cpu_set_t *threads = new_set(bytes);
    if (threads == NULL) return -ENOMEM;
    if (!read_line(text, sizeof text, topology->root, "cpu/cpu%d/topology/thread_siblings_list", cpu) ||
        !parse_list(text, bytes, topology->allowed->set, threads) || !CPU_ISSET_S((size_t)cpu, bytes, threads)) {
        CPU_ZERO_S(bytes, threads);
        CPU_SET_S((size_t)cpu, bytes, threads);
    }
    CPU_OR_S(bytes, taken, taken, threads);

    struct core *cores = realloc(topology->cores, (size_t)(topology->core_count + 1) * sizeof cores[0]);
    if (cores == NULL) {
        free(threads);
        return -ENOMEM;
    }
    topology->cores               = cores;
    cores[topology->core_count++] = (struct core){.cpus = {threads, bytes}, .first = cpu, .node = node};
    return 0;
}

/* The first `wanted` cores, filling one node after the other: PEs that are neighbours in number share a node. */
static int read_cores(struct topology *topology, int wanted)
{
    size_t     bytes = topology->bytes;
    cpu_set_t *taken = new_set(bytes);
    int        err   = taken == NULL ? -ENOMEM : 0;
    for (int n = 0; n < topology->nodes; n++) {
        for (int cpu = 0; cpu < bits_of(bytes) && !err && topology->core_count < wanted; cpu++) {
            if (!CPU_ISSET_S((size_t)cpu, bytes, topology->node_cpus[n]) || CPU_ISSET_S((size_t)cpu, bytes, taken)) continue;
            err = add_core(topology, cpu, topology->node_numbers[n], taken);
        }
    }
    free(taken);
    return err;
}

static void free_topology(struct topology *topology)
{
    for (int i = 0; i < topology->nodes; i++) free(topology->node_cpus[i]);
    for (int i = 0; i < topology->core_count; i++) free(topology->cores[i].cpus.set);
    free(topology->node_cpus);
    free(topology->node_numbers);
    free(topology->cores);
}

/* ---- the plan ------------------------------------------------------------------------------------------------------------ */

/* A copy, because the topology is freed; NULL without memory. */
static cpu_set_t *copy_set(const cpu_set_t *set, size_t bytes)
{
    cpu_set_t *copy = new_set(bytes);
    if (copy != NULL) memcpy(copy, set, bytes);
    return copy;
}

static void leave_unbound(struct oshrun_plan *plan, const char *why)
{
    for (int i = 0; i < plan->npes; i++) snprintf(plan->places[i].text, sizeof plan->places[i].text, "none (%s)", why);
}

static int bind_cores(struct oshrun_plan *plan, const struct topology *topology)
{
    for (int i = 0; i < plan->npes; i++) {
        struct oshrun_place *place = &plan->places[i];
        const struct core   *core  = &topology->cores[i];
        char                 list[48];
        place->cpus = (struct oshrun_cpus){.set = copy_set(core->cpus.set, topology->bytes), .bytes = topology->bytes};
        if (place->cpus.set == NULL) return -ENOMEM;
        write_list(core->cpus.set, topology->bytes, list, sizeof list);
        snprintf(place->text, sizeof place->text, "core (cpus %s; node %d)", list, core->node);
    }
    return 0;
}

/* Blocks of PEs over the nodes: neighbours in number share one. */
static int bind_nodes(struct oshrun_plan *plan, const struct topology *topology)
{
    for (int i = 0; i < plan->npes; i++) {
        struct oshrun_place *place = &plan->places[i];
        int                  node  = (int)((int64_t)i * topology->nodes / plan->npes);
        char                 list[48];
        place->cpus = (struct oshrun_cpus){.set = copy_set(topology->node_cpus[node], topology->bytes), .bytes = topology->bytes};
        if (place->cpus.set == NULL) return -ENOMEM;
        write_list(topology->node_cpus[node], topology->bytes, list, sizeof list);
        snprintf(place->text, sizeof place->text, "numa (cpus %s; node %d)", list, topology->node_numbers[node]);
    }
    return 0;
}

static int bind_as_found(struct topology *topology, enum oshrun_bind bind, struct oshrun_plan *plan, char *note, size_t note_bytes)
{
    int err = read_nodes(topology);
    if (err) return err;
    if (bind == OSHRUN_BIND_NUMA) return bind_nodes(plan, topology);

    /* One more than wanted is never read: that there are enough is all that matters, unless there are not. */
    err = CPU_COUNT_S(topology->bytes, topology->allowed->set) >= plan->npes ? read_cores(topology, plan->npes)
                                                                             : read_cores(topology, CPUS_MAX);
    if (err) return err;
    if (topology->core_count >= plan->npes) return bind_cores(plan, topology);

    char why[64];
    snprintf(why, sizeof why, "%d PEs on %d core%s", plan->npes, topology->core_count, topology->core_count == 1 ? "" : "s");
    leave_unbound(plan, why);
    if (bind == OSHRUN_BIND_CORE) snprintf(note, note_bytes, "the PEs are not bound to cores: %s", why);
    return 0;
}

int oshrun_bind_plan(const char *sys_root, const struct oshrun_cpus *allowed, enum oshrun_bind bind, int npes,
                     struct oshrun_plan *plan_out, char *note_out, size_t note_bytes)
{
    struct oshrun_plan plan = {.places = calloc((size_t)npes, sizeof plan.places[0]), .npes = npes};
    int                err  = plan.places == NULL ? -ENOMEM : 0;
    note_out[0]             = '\0';
    if (err) return err;

    if (bind == OSHRUN_BIND_NONE) {
        leave_unbound(&plan, "--bind none");
    } else if (bind == OSHRUN_BIND_AUTO && npes == 1) {
        leave_unbound(&plan, "one PE: nothing to keep apart");
    } else {
        struct topology topology = {.root = sys_root, .allowed = allowed, .bytes = allowed->bytes};
        err                      = bind_as_found(&topology, bind, &plan, note_out, note_bytes);
        free_topology(&topology);
    }
    if (err) {
        oshrun_bind_free_plan(&plan);
        return err;
    }
    *plan_out = plan;
    return 0;
}

void oshrun_bind_free_plan(struct oshrun_plan *plan)
{
    for (int i = 0; i < plan->npes && plan->places != NULL; i++) oshrun_bind_free_cpus(&plan->places[i].cpus);
    free(plan->places);
    *plan = (struct oshrun_plan){.places = NULL};
}
