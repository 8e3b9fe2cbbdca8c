/* SPDX-License-Identifier: Apache-2.0
 *
 * How far a network device is from the cores that a PE may use, as /sys tells it. Every path is looked up below a root: "" for this
 * machine, or a folder with a recorded tree in tests. Nothing here calls libibverbs.
 *
 * Tests: tests/unit/ibverbs_topology_*.c, ibverbs_device_*.c.
 */
#ifndef SHMEMT_IBVERBS_TOPOLOGY_H
#define SHMEMT_IBVERBS_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CPU i is bit i % 64 of word i / 64. Those with higher numbers are left out. */
enum { IB_CPU_WORDS = 64, IB_CPUS_MAX = IB_CPU_WORDS * 64 };
struct ib_cpus {
    uint64_t words[IB_CPU_WORDS];
};

/* What is known of the place of one device. */
struct ib_place {
    int            numa_node; /* -1: the machine has one node, or does not say */
    bool           in_kernel; /* the kernel knows the device: what is registered with it is pinned */
    bool           has_cpus;
    struct ib_cpus cpus;     /* nearest to it */
    unsigned       distance; /* to the PE: 10 is the same NUMA node, as in the kernel's own tables */
};

/* Where a machine is unclear: neither near nor far. */
enum { IB_DISTANCE_LOCAL = 10, IB_DISTANCE_UNKNOWN = 15 };

/* Of the calling thread. */
void shmemt_ibverbs_topology_own_cpus(struct ib_cpus *cpus_out);

/* The place of an RDMA device (mlx5_0), seen by a PE that may use these CPUs. */
void shmemt_ibverbs_topology_place(const char *sys_root, const char *device, const struct ib_cpus *pe, struct ib_place *place_out);

/* The rate that the kernel tells of a port, for speeds that the verbs have no code for. 0: none. */
unsigned shmemt_ibverbs_topology_rate_mbps(const char *sys_root, const char *device, int port);

/* A counter of the device's own for what went over a port. false: the driver has none of that name. */
bool shmemt_ibverbs_topology_hw_counter(const char *sys_root, const char *device, int port, const char *name, uint64_t *value_out);

/*
 * A number for taking turns: PEs of one NUMA node have numbers that follow each other, so modulo the number of devices they spread evenly.
 * Nobody is asked; it is worked out from the PE's number on the machine, how many there are, and where this one is bound.
 */
int shmemt_ibverbs_topology_turn(const char *sys_root, const struct ib_cpus *pe, int local, int local_pes);

/* CPUs of a thread of this PE that should be near a device: those of both, else all of the PE. */
struct ib_cpus shmemt_ibverbs_topology_near(const struct ib_cpus *pe, const struct ib_place *place);

/* "0-3,8" as the kernel writes it; false where the text is something else. Print: false, and "", where there is no room for all. */
bool shmemt_ibverbs_topology_parse_cpus(const char *text, struct ib_cpus *cpus_out);
bool shmemt_ibverbs_topology_print_cpus(const struct ib_cpus *cpus, char *text_out, size_t bytes);

#endif
