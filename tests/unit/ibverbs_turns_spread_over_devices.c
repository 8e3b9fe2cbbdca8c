/* SPDX-License-Identifier: Apache-2.0
 *
 * PEs that have the same devices nearby use them evenly, however the launcher has laid the PEs out: node after node or dealt out to the nodes in
 * turn, bound to cores, to nodes, or not at all.
 */
#include "transports/ibverbs/topology.h"

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

enum { NODES_MAX = 4, DEVICES_MAX = 4 };
enum layout { FILLED, DEALT };
enum binding { TO_CORES, TO_NODE, NOWHERE };

static struct tree_file files[2 * NODES_MAX + 2];
static char             texts[NODES_MAX][2][64];

/* Nodes with 16 cores each, whose second threads have numbers of their own above, as on most machines. */
static void make_nodes(char *root, int nodes)
{
    static char online[16];
    int         count = 0;
    snprintf(online, sizeof online, "0-%d\n", nodes - 1);
    files[count++] = (struct tree_file){"/sys/devices/system/node/online", online};
    for (int node = 0; node < nodes; node++) {
        snprintf(texts[node][0], sizeof texts[node][0], "/sys/devices/system/node/node%d/cpulist", node);
        snprintf(texts[node][1], sizeof texts[node][1], "%d-%d,%d-%d\n", node * 16, node * 16 + 15, (nodes + node) * 16,
                 (nodes + node) * 16 + 15);
        files[count++] = (struct tree_file){texts[node][0], texts[node][1]};
    }
    files[count] = (struct tree_file){NULL, NULL};
    if (!tree_make(root, files)) exit(unit_skip("no temporary folder"));
}

static void set_range(struct ib_cpus *cpus, int first, int count)
{
    for (int cpu = first; cpu < first + count; cpu++) cpus->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static int node_of(enum layout layout, int nodes, int per_node, int pe)
{
    return layout == FILLED ? pe / per_node : pe % nodes;
}

static struct ib_cpus cpus_of(enum layout layout, enum binding binding, int nodes, int per_node, int pe)
{
    struct ib_cpus cpus = {{0}};
    int            node = node_of(layout, nodes, per_node, pe), width = 16 / per_node;
    int            index = layout == FILLED ? pe % per_node : pe / nodes;
    if (binding == NOWHERE) set_range(&cpus, 0, nodes * 32);
    else if (binding == TO_NODE) width = 16, index = 0;
    if (binding != NOWHERE) {
        set_range(&cpus, node * 16 + index * width, width);
        set_range(&cpus, (nodes + node) * 16 + index * width, width);
    }
    return cpus;
}

/* Each group of PEs that has the same devices nearby: the most and the least used of them differ by at most `slack`. */
static void check_even(const char *root, enum layout layout, enum binding binding, int nodes, int per_node, int devices, int slack)
{
    int used[NODES_MAX][DEVICES_MAX] = {{0}};
    for (int pe = 0; pe < nodes * per_node; pe++) {
        struct ib_cpus cpus  = cpus_of(layout, binding, nodes, per_node, pe);
        int            turn  = shmemt_ibverbs_topology_turn(root, &cpus, pe, nodes * per_node);
        int            group = binding == NOWHERE ? 0 : node_of(layout, nodes, per_node, pe);
        CHECK(turn >= 0);
        used[group][turn % devices]++;
    }
    for (int group = 0; group < (binding == NOWHERE ? 1 : nodes); group++) {
        int least = used[group][0], most = used[group][0];
        for (int i = 1; i < devices; i++) {
            if (used[group][i] < least) least = used[group][i];
            if (used[group][i] > most) most = used[group][i];
        }
        if (most - least > slack)
            printf("layout %d binding %d: %d nodes, %d PEs each, %d devices: %d to %d PEs\n", layout, binding, nodes, per_node,
                   devices, least, most);
        CHECK(most - least <= slack);
    }
}

static void check_nodes(int nodes)
{
    char root[TREE_ROOT_BYTES];
    make_nodes(root, nodes);
    for (int per_node = 1; per_node <= 16; per_node *= 2)
        for (int devices = 1; devices <= DEVICES_MAX; devices++) {
            check_even(root, FILLED, TO_CORES, nodes, per_node, devices, 1);
            check_even(root, DEALT, TO_CORES, nodes, per_node, devices, 1);
            check_even(root, FILLED, TO_NODE, nodes, per_node, devices, 1);
            check_even(root, FILLED, NOWHERE, nodes, per_node, devices, 1);
        }
    tree_remove(root);
}

/* A socket of several nodes with one PE in each: these take turns over the devices of the socket too. */
static void check_clusters(void)
{
    char root[TREE_ROOT_BYTES];
    int  used[2] = {0};
    make_nodes(root, 4);
    for (int pe = 0; pe < 4; pe++) {
        struct ib_cpus cpus = cpus_of(FILLED, TO_NODE, 4, 1, pe);
        used[shmemt_ibverbs_topology_turn(root, &cpus, pe, 4) % 2]++;
    }
    CHECK_EQ_I64(used[0], 2);
    CHECK_EQ_I64(used[1], 2);
    tree_remove(root);
}

int main(void)
{
    struct ib_cpus any = {{3}};
    for (int nodes = 1; nodes <= NODES_MAX; nodes *= 2) check_nodes(nodes);
    check_clusters();
    CHECK_EQ_I64(shmemt_ibverbs_topology_turn("/nowhere", &any, 5, 8), 5); /* a machine that says nothing */
    return unit_result();
}
