/* SPDX-License-Identifier: Apache-2.0
 *
 * Which port and GID a PE takes, and what it says where there is none, for the devices that machines have.
 */
#include "transports/ibverbs/device.h"

#include "tests/unit/ibverbs_fake.h"
#include "tests/unit/tree.h"
#include "tests/unit/unit.h"

#include <sched.h>

/* clang-format off */
#define UP  IBV_PORT_ACTIVE
#define IB  IBV_LINK_LAYER_INFINIBAND
#define ETH IBV_LINK_LAYER_ETHERNET
#define V1  IBV_GID_TYPE_ROCE_V1
#define V2  IBV_GID_TYPE_ROCE_V2

#define IB_GIDS {{"fe80::5:1", IBV_GID_TYPE_IB, 0}}
/* As the kernel fills the table: each address once for version 1 and once for version 2. */
#define ROCE_GIDS {{"fe80::1", V1, 0}, {"fe80::1", V2, 0}, {"10.0.0.1", V1, 0}, {"10.0.0.1", V2, 0}}

/* 4 lanes of 50 and of 25 Gb/s. */
#define HDR_PORT      {UP, IB, 64, 2, 0, IBV_MTU_4096, 7, IB_GIDS}
#define ROCE_100(mtu) {UP, ETH, 32, 2, 0, mtu, 0, ROCE_GIDS}
/* An Ethernet port with other GIDs. */
#define ROCE_WITH(...) {UP, ETH, 32, 2, 0, IBV_MTU_4096, 0, {__VA_ARGS__}}

/* The PE may run on CPU 0 only, which is on node 0. */
#define TWO_NODES                                             \
    {"/sys/devices/system/node/online", "0-1\n"},             \
    {"/sys/devices/system/node/node0/cpulist", "0-1023\n"},   \
    {"/sys/devices/system/node/node1/cpulist", "1024-2047\n"},\
    {"/sys/devices/system/node/node0/distance", "10 21\n"},   \
    {"/sys/devices/system/node/node1/distance", "21 10\n"}
#define DEVICE_ON(device, node) {"/sys/class/infiniband/" device "/device/numa_node", node "\n"}
/* clang-format on */

static const struct choice_case {
    const char        *name;
    const char        *text; /* the line of the report, or the reason */
    int                err;
    int                local, local_pes;
    const char        *device, *gid_index, *mtu; /* options */
    bool               nic;                      /* POSTERN_AMO=nic */
    bool               no_rdma;
    struct fake_device devices[FAKE_DEVICES_MAX];
    struct tree_file   files[16];
} cases[] = {
    {.name = "no RDMA in the kernel", .no_rdma = true, .err = -ENODEV, .text = "the kernel has no RDMA (modprobe ib_uverbs)"},
    {.name = "no device", .err = -ENODEV, .text = "there is no RDMA device"},
    {.name    = "InfiniBand",
     .text    = "mlx5_0:1, InfiniBand 200 Gb/s, MTU 4096, LID 7",
     .devices = {{.name = "mlx5_0", .ports = {HDR_PORT}}}},
    {.name    = "RoCE: version 2 with IPv4",
     .text    = "rocep1s0:1, RoCE v2 100 Gb/s, MTU 1024, GID 3 10.0.0.1",
     .devices = {{.name = "rocep1s0", .ports = {ROCE_100(IBV_MTU_1024)}}}},
    {.name    = "RoCE: version 2 with IPv6 before version 1 with IPv4, and a global one before a local one",
     .text    = "a:1, RoCE v2 100 Gb/s, MTU 4096, GID 3 fd00::1",
     .devices = {{.name = "a", .ports = {ROCE_WITH({"10.0.0.1", V1, 0}, {"::", V2, 0}, {"fe80::1", V2, 0}, {"fd00::1", V2, 0})}}}},
    {.name    = "RoCE: the first of equals",
     .text    = "a:1, RoCE v2 100 Gb/s, MTU 4096, GID 1 10.0.0.2",
     .devices = {{.name = "a", .ports = {ROCE_WITH({"fe80::1", V2, 0}, {"10.0.0.2", V2, 0}, {"10.0.0.1", V2, 0})}}}},
    {.name    = "RoCE: not that of an interface in another network namespace",
     .text    = "a:1, RoCE v2 100 Gb/s, MTU 4096, GID 1 fe80::1",
     .devices = {{.name = "a", .ports = {ROCE_WITH({"10.0.0.2", V2, 99999999}, {"fe80::1", V2, 1})}}}},
    {.name      = "RoCE: the user's GID",
     .text      = "a:1, RoCE v1 100 Gb/s, MTU 4096, GID 2 10.0.0.1",
     .gid_index = "2",
     .devices   = {{.name = "a", .ports = {ROCE_100(IBV_MTU_4096)}}}},
    {.name      = "RoCE: -1 is no index",
     .text      = "a:1, RoCE v2 100 Gb/s, MTU 4096, GID 3 10.0.0.1",
     .gid_index = "-1",
     .devices   = {{.name = "a", .ports = {ROCE_100(IBV_MTU_4096)}}}},
    {.name      = "RoCE: the user's GID is empty",
     .err       = -ENODEV,
     .text      = "a:1 has no GID at POSTERN_IB_GID_INDEX",
     .gid_index = "5",
     .devices   = {{.name = "a", .ports = {ROCE_100(IBV_MTU_4096)}}}},
    {.name    = "RoCE without an address",
     .err     = -ENODEV,
     .text    = "a:1 has no GID",
     .devices = {{.name = "a", .ports = {ROCE_WITH({NULL, V2, 0})}}}},
    {.name    = "a smaller MTU",
     .text    = "mlx5_0:1, InfiniBand 200 Gb/s, MTU 2048, LID 7",
     .mtu     = "2048",
     .devices = {{.name = "mlx5_0", .ports = {HDR_PORT}}}},
    {.name    = "a larger MTU than the port has",
     .text    = "a:1, RoCE v2 100 Gb/s, MTU 1024, GID 3 10.0.0.1 (POSTERN_IB_MTU is more than the port's 1024)",
     .mtu     = "4096",
     .devices = {{.name = "a", .ports = {ROCE_100(IBV_MTU_1024)}}}},
    {.name    = "every port has its reason",
     .err     = -ENODEV,
     .text    = "a:1 is down, a:2 waits for a subnet manager, b is iWARP, c has no reliable connections",
     .devices = {{.name = "a", .ports = {{.state = IBV_PORT_DOWN, .link = IB}, {.state = IBV_PORT_INIT, .link = IB}}},
                 {.name = "b", .transport = IBV_TRANSPORT_IWARP, .ports = {HDR_PORT}},
                 {.name = "c", .transport = IBV_TRANSPORT_UNSPECIFIED, .ports = {HDR_PORT}}}},
    {.name    = "not for this user",
     .err     = -ENODEV,
     .text    = "a cannot be opened: Permission denied, /dev/infiniband is not for this user",
     .devices = {{.name = "a", .open_error = EACCES, .ports = {HDR_PORT}}}},
    {.name    = "the second port where the first is down",
     .text    = "a:2, InfiniBand 200 Gb/s, MTU 4096, LID 7",
     .devices = {{.name = "a", .ports = {{.state = IBV_PORT_DOWN, .link = IB}, HDR_PORT}}}},
    {.name    = "InfiniBand before Ethernet",
     .text    = "b:1, InfiniBand 200 Gb/s, MTU 4096, LID 7",
     .devices = {{.name = "a", .ports = {ROCE_100(IBV_MTU_4096)}}, {.name = "b", .ports = {HDR_PORT}}}},
    {.name    = "a slow port for management is no choice, though it is nearer",
     .text    = "b:1, RoCE v2 100 Gb/s, MTU 4096, GID 3 10.0.0.1, NUMA node 1",
     .devices = {{.name = "a", .ports = {{UP, ETH, 32, 1, 0, IBV_MTU_1024, 0, ROCE_GIDS}}},
                 {.name = "b", .ports = {ROCE_100(IBV_MTU_4096)}}},
     .files   = {TWO_NODES, DEVICE_ON("a", "0"), DEVICE_ON("b", "1")}},
    {.name      = "the nearest",
     .text      = "b:1, InfiniBand 200 Gb/s, MTU 4096, LID 7, NUMA node 0",
     .local     = 3,
     .local_pes = 8,
     .devices   = {{.name = "a", .ports = {HDR_PORT}}, {.name = "b", .ports = {HDR_PORT}}},
     .files     = {TWO_NODES, DEVICE_ON("a", "1"), DEVICE_ON("b", "0")}},
    {.name      = "in turns, by number and not by letter",
     .text      = "mlx5_10:1, InfiniBand 200 Gb/s, MTU 4096, LID 7, 1 of 3",
     .local     = 5,
     .local_pes = 8,
     .devices   = {{.name = "mlx5_10", .ports = {HDR_PORT}},
                   {.name = "mlx5_2", .ports = {HDR_PORT}},
                   {.name = "mlx5_1", .ports = {HDR_PORT}}}},
    {.name      = "in turns, the first",
     .text      = "mlx5_1:1, InfiniBand 200 Gb/s, MTU 4096, LID 7, 1 of 3",
     .local     = 6,
     .local_pes = 8,
     .devices   = {{.name = "mlx5_10", .ports = {HDR_PORT}},
                   {.name = "mlx5_2", .ports = {HDR_PORT}},
                   {.name = "mlx5_1", .ports = {HDR_PORT}}}},
    {.name    = "the user's device, though it is slow and far and Ethernet",
     .text    = "a:1, RoCE v2 100 Gb/s, MTU 1024, GID 3 10.0.0.1",
     .device  = "a",
     .devices = {{.name = "b", .ports = {HDR_PORT}},
                 {.name = "a", .ports = {ROCE_100(IBV_MTU_1024)}},
                 {.name = "aa", .ports = {HDR_PORT}}}},
    {.name      = "the user's ports, in turns",
     .text      = "b:2, InfiniBand 200 Gb/s, MTU 4096, LID 7, 1 of 2",
     .device    = "a:1,b:2",
     .local     = 1,
     .local_pes = 2,
     .devices   = {{.name = "a", .ports = {HDR_PORT, HDR_PORT}}, {.name = "b", .ports = {HDR_PORT, HDR_PORT}}}},
    {.name    = "a device that is not there",
     .err     = -ENODEV,
     .text    = "no device mlx5_9 (POSTERN_IB_DEVICE); there is mlx5_0, mlx5_1",
     .device  = "mlx5_9",
     .devices = {{.name = "mlx5_0", .ports = {HDR_PORT}}, {.name = "mlx5_1", .ports = {HDR_PORT}}}},
    {.name    = "a port that is not there",
     .err     = -ENODEV,
     .text    = "no port mlx5_0:3 (POSTERN_IB_DEVICE)",
     .device  = "mlx5_0:3",
     .devices = {{.name = "mlx5_0", .ports = {HDR_PORT}}}},
    {.name    = "the device is the agent, and has no atomics",
     .err     = -ENODEV,
     .text    = "a:1 has no atomics (POSTERN_AMO=nic)",
     .nic     = true,
     .devices = {{.name = "a", .ports = {HDR_PORT}}}},
    {.name    = "the device is the agent",
     .text    = "b:1, InfiniBand 200 Gb/s, MTU 4096, LID 7",
     .nic     = true,
     .devices = {{.name = "a", .ports = {HDR_PORT}}, {.name = "b", .atomics = IBV_ATOMIC_HCA, .ports = {HDR_PORT}}}},
    {.name    = "a speed that only the kernel knows",
     .text    = "b:1, InfiniBand 800 Gb/s, MTU 4096, LID 9",
     .devices = {{.name = "a", .ports = {HDR_PORT}}, {.name = "b", .ports = {{UP, IB, 0, 2, 0, IBV_MTU_4096, 9, IB_GIDS}}}},
     .files   = {{"/sys/class/infiniband/b/ports/1/rate", "800 Gb/sec (4X XDR)\n"}}},
    {.name    = "one lane of 2.5",
     .text    = "a:1, InfiniBand 2.5 Gb/s, MTU 4096, LID 9",
     .devices = {{.name = "a", .ports = {{UP, IB, 1, 1, 0, IBV_MTU_4096, 9, IB_GIDS}}}}},
    {.name    = "an old driver that names no link",
     .text    = "a:1, InfiniBand 40 Gb/s, MTU 4096, LID 9",
     .devices = {{.name = "a", .ports = {{UP, IBV_LINK_LAYER_UNSPECIFIED, 4, 2, 0, IBV_MTU_4096, 9, IB_GIDS}}}}},
};

static void set(const char *name, const char *value)
{
    if (value) setenv(name, value, 1);
    else unsetenv(name);
}

static void check_one(const struct choice_case *one, const char *root)
{
    const int         local_of[] = {one->local};
    struct shmemt_job job        = {
               .npes      = 1,
               .local_of  = local_of,
               .local_pes = one->local_pes ? one->local_pes : 1,
               .agent     = one->nic ? SHMEMT_AGENT_NIC : SHMEMT_AGENT_CPU,
    };
    struct ib_device device    = {.context = NULL};
    char             text[120] = "";
    fake_devices               = one->no_rdma ? NULL : one->devices;
    set("POSTERN_IB_DEVICE", one->device);
    set("POSTERN_IB_GID_INDEX", one->gid_index);
    set("POSTERN_IB_MTU", one->mtu);
    CHECK_EQ_I64(shmemt_ibverbs_device_open(&job, root, &device, text, sizeof text), one->err);
    CHECK_EQ_I64(fake_open, one->err ? 0 : 1); /* those that were looked at are closed again */
    if (!one->err) shmemt_ibverbs_device_describe(&device, text, sizeof text);
    CHECK_STR(text, one->text);
    shmemt_ibverbs_device_close(&device);
    CHECK_EQ_I64(fake_open, 0);
}

int main(void)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    if (sched_setaffinity(0, sizeof first, &first) != 0) return unit_skip("CPU 0 is not for this process");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char root[TREE_ROOT_BYTES];
        if (!tree_make(root, cases[i].files)) return unit_skip("no temporary folder");
        printf("%s\n", cases[i].name);
        check_one(&cases[i], root);
        tree_remove(root);
    }
    return unit_result();
}
