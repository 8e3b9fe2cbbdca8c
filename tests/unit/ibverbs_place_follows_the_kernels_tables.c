/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a device is from the cores of a PE, on machines as they are: two sockets, clusters within sockets, nodes without CPUs, nodes with gaps
 * in their numbers, machines that say nothing, and devices without hardware.
 */
#include "transports/ibverbs/topology.h"

#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

/* clang-format off */
#define ONLINE(list) {"/sys/devices/system/node/online", list "\n"}
#define NODE(n, cpus, row)                                      \
    {"/sys/devices/system/node/node" #n "/cpulist", cpus "\n"}, \
    {"/sys/devices/system/node/node" #n "/distance", row "\n"}
#define DEVICE(name, node, cpus)                                    \
    {"/sys/class/infiniband/" name "/device/numa_node", node "\n"}, \
    {"/sys/class/infiniband/" name "/device/local_cpulist", cpus "\n"}
#define TWO_SOCKETS ONLINE("0-1"), NODE(0, "0-31,64-95", "10 21"), NODE(1, "32-63,96-127", "21 10")
/* clang-format on */

static const struct place_case {
    const char      *name;
    const char      *pe, *device;
    int              node;
    unsigned         distance;
    const char      *near; /* for a thread of the PE */
    struct tree_file files[16];
} cases[] = {
    {"same socket", "0-3", "mlx5_0", 0, 10, "0-3", {TWO_SOCKETS, DEVICE("mlx5_0", "0", "0-31,64-95")}},
    {"other socket", "0-3", "mlx5_1", 1, 21, "0-3", {TWO_SOCKETS, DEVICE("mlx5_1", "1", "32-63,96-127")}},
    {"a PE that may run everywhere is near to all",
     "0-127",
     "mlx5_1",
     1,
     10,
     "32-63,96-127",
     {TWO_SOCKETS, DEVICE("mlx5_1", "1", "32-63,96-127")}},
    {"clusters within a socket",
     "8-11",
     "mlx5_0",
     0,
     12,
     "8-11",
     {ONLINE("0-3"), NODE(0, "0-7", "10 12 20 20"), NODE(1, "8-15", "12 10 20 20"), NODE(2, "16-23", "20 20 10 12"),
      NODE(3, "24-31", "20 20 12 10"), DEVICE("mlx5_0", "0", "0-7")}},
    {"nodes 0 and 8, and memory of GPUs above",
     "80-83",
     "mlx5_3",
     8,
     10,
     "80-83",
     {ONLINE("0,8,252-253"), NODE(0, "0-79", "10 40 80 80"), NODE(8, "80-159", "40 10 80 80"), NODE(252, "", "80 80 10 80"),
      NODE(253, "", "80 80 80 10"), DEVICE("mlx5_3", "8", "80-159")}},
    {"nodes 0 and 8, the far one",
     "0",
     "mlx5_3",
     8,
     40,
     "0",
     {ONLINE("0,8"), NODE(0, "0-79", "10 40"), NODE(8, "80-159", "40 10"), DEVICE("mlx5_3", "8", "80-159")}},
    {"one node, and a device of none",
     "0-1",
     "mlx5_0",
     -1,
     10,
     "0-1",
     {ONLINE("0"), NODE(0, "0-1", "10"), DEVICE("mlx5_0", "-1", "0-1")}},
    {"two nodes, and a device that says nothing", "0-3", "mlx5_0", -1, 15, "0-3", {TWO_SOCKETS, DEVICE("mlx5_0", "-1", "0-127")}},
    {"no list of CPUs: that of the node",
     "0-63",
     "mlx5_1",
     1,
     10,
     "32-63",
     {TWO_SOCKETS, {"/sys/class/infiniband/mlx5_1/device/numa_node", "1\n"}}},
    {"a kernel without NUMA files, near", "4-5", "mlx5_0", 0, 10, "4-5", {DEVICE("mlx5_0", "0", "0-7")}},
    {"a kernel without NUMA files, far", "9", "mlx5_0", 0, 20, "9", {DEVICE("mlx5_0", "0", "0-7")}},
    {"Soft-RoCE is where its network interface is",
     "0-3",
     "rxe0",
     1,
     21,
     "0-3",
     {TWO_SOCKETS,
      {"/sys/class/infiniband/rxe0/parent", "eth0\n"},
      {"/sys/class/net/eth0/device/numa_node", "1\n"},
      {"/sys/class/net/eth0/device/local_cpulist", "32-63,96-127\n"}}},
    {"Soft-RoCE on an interface without hardware",
     "0-3",
     "rxe0",
     -1,
     15,
     "0-3",
     {TWO_SOCKETS, {"/sys/class/infiniband/rxe0/parent", "lo\n"}}},
    {"nothing can be read", "0-3", "mlx5_0", -1, 10, "0-3", {{NULL, NULL}}},
};

static struct ib_cpus cpus_of(const char *text)
{
    struct ib_cpus cpus = {{0}};
    CHECK(shmemt_ibverbs_topology_parse_cpus(text, &cpus));
    return cpus;
}

static void check_one(const struct place_case *one, const char *root)
{
    struct ib_cpus  pe = cpus_of(one->pe), wanted = cpus_of(one->near);
    struct ib_place place;
    shmemt_ibverbs_topology_place(root, one->device, &pe, &place);
    CHECK_EQ_I64(place.numa_node, one->node);
    CHECK_EQ_U64(place.distance, one->distance);
    CHECK(place.in_kernel == (one->files[0].path != NULL));
    struct ib_cpus near = shmemt_ibverbs_topology_near(&pe, &place);
    char           text[256];
    CHECK(memcmp(&near, &wanted, sizeof near) == 0);
    CHECK(shmemt_ibverbs_topology_print_cpus(&near, text, sizeof text) && strcmp(text, one->near) == 0);
    CHECK(!shmemt_ibverbs_topology_print_cpus(&near, text, 1) && text[0] == '\0');
}

static void check_lists(void)
{
    struct ib_cpus cpus;
    CHECK(shmemt_ibverbs_topology_parse_cpus("0-1,64,130-131\n", &cpus));
    CHECK_EQ_U64(cpus.words[0], 3);
    CHECK_EQ_U64(cpus.words[1], 1);
    CHECK_EQ_U64(cpus.words[2], 12);
    CHECK(shmemt_ibverbs_topology_parse_cpus("\n", &cpus));
    CHECK_EQ_U64(cpus.words[0], 0);
    CHECK(shmemt_ibverbs_topology_parse_cpus("4095-5000", &cpus)); /* the rest is left out */
    CHECK_EQ_U64(cpus.words[63], UINT64_C(1) << 63);
    CHECK(!shmemt_ibverbs_topology_parse_cpus("3-1", &cpus));
    CHECK(!shmemt_ibverbs_topology_parse_cpus("a", &cpus));
    CHECK(!shmemt_ibverbs_topology_parse_cpus("1;2", &cpus));
}

static void check_rates(void)
{
    const struct tree_file files[] = {{"/sys/class/infiniband/mlx5_0/ports/1/rate", "800 Gb/sec (4X XDR)\n"},
                                      {"/sys/class/infiniband/mlx5_0/ports/2/rate", "2.5 Gb/sec (1X SDR)\n"},
                                      {NULL, NULL}};
    char                   root[TREE_ROOT_BYTES];
    CHECK(tree_make(root, files));
    CHECK_EQ_U64(shmemt_ibverbs_topology_rate_mbps(root, "mlx5_0", 1), 800000);
    CHECK_EQ_U64(shmemt_ibverbs_topology_rate_mbps(root, "mlx5_0", 2), 2500);
    CHECK_EQ_U64(shmemt_ibverbs_topology_rate_mbps(root, "mlx5_0", 3), 0);
    tree_remove(root);
}

int main(void)
{
    check_lists();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char root[TREE_ROOT_BYTES];
        if (!tree_make(root, cases[i].files)) return unit_skip("no temporary folder");
        printf("%s\n", cases[i].name);
        check_one(&cases[i], root);
        tree_remove(root);
    }
    check_rates();
    return unit_result();
}
