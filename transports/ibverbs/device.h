/* SPDX-License-Identifier: Apache-2.0
 *
 * Which device, port and GID this PE uses, and what they can do.
 *
 * The choice, in this order: ports that are up and have reliable connections; those that the user names (POSTERN_IB_DEVICE);
 * InfiniBand before Ethernet, so that all PEs of like machines take the same kind; ports with at least half the rate of the
 * fastest (a slow one for management is not a choice); the nearest to the PE's cores; among equals the PEs of a machine take turns.
 *
 * Options read here: POSTERN_IB_DEVICE, POSTERN_IB_GID_INDEX, POSTERN_IB_MTU (options.def says what they accept).
 * Tests: tests/unit/ibverbs_device_*.c, on recorded /sys trees and a libibverbs of a few functions.
 */
#ifndef SHMEMT_IBVERBS_DEVICE_H
#define SHMEMT_IBVERBS_DEVICE_H

#include "transports/ibverbs/topology.h"
#include "transports/transport.h"

#include <infiniband/verbs.h>

/* How this PE is reached through its port: what goes into the PE's address, and from there into address handles and paths. */
struct ib_endpoint {
    union ibv_gid gid;
    uint16_t      lid;      /* 0 on Ethernet                           */
    uint8_t       link;     /* IBV_LINK_LAYER_INFINIBAND or _ETHERNET  */
    uint8_t       gid_type; /* enum ibv_gid_type                       */
    uint8_t       mtu;      /* enum ibv_mtu, largest that it takes     */
    uint8_t       unused[3];
};

/* One port that can be used, or the one that was taken. */
struct ib_port {
    char                   device[IBV_SYSFS_NAME_MAX]; /* mlx5_0 */
    uint8_t                number;                     /* of the port, from 1 */
    uint8_t                gid_index;
    struct ib_endpoint     endpoint;
    unsigned               rate_mbps; /* 0: not told */
    struct ib_place        place;
    struct ibv_device_attr limits;
    struct ibv_port_attr   attr;
    bool                   odp; /* reliable connections write, read and send from memory that is paged on demand */
};

/* A device that is open. */
struct ib_device {
    struct ibv_context *context;
    struct ib_port      port;
    struct ib_cpus      near;     /* for a thread of this PE beside the device                        */
    int                 equals;   /* ports that were as good, this one too: the PEs take turns         */
    char                note[64]; /* what was not granted as asked, or ""                              */
};

/*
 * Choose and open. 0; -ENODEV or another errno, and the reason as the end of a sentence in detail ("no device has a port that is up
 * (mlx5_0:1 down)"). The same answer each time on an unchanged machine.
 */
int  shmemt_ibverbs_device_open(const struct shmemt_job *job, const char *sys_root, struct ib_device *device_out, char *detail,
                                size_t detail_bytes);
void shmemt_ibverbs_device_close(struct ib_device *device); /* nothing where it is zeroed */

/* For the report: "mlx5_0:1, InfiniBand 200 Gb/s, MTU 4096, LID 7, NUMA node 0, 1 of 2". */
void shmemt_ibverbs_device_describe(const struct ib_device *device, char *text, size_t bytes);

/* Can a connection from mine reach theirs? NULL, or why not, as the end of a sentence. */
const char *shmemt_ibverbs_device_mismatch(const struct ib_endpoint *mine, const struct ib_endpoint *theirs);

/* How to get there: for ibv_create_ah, and for ibv_modify_qp to RTR together with the MTU. */
void         shmemt_ibverbs_device_path(const struct ib_port *mine, const struct ib_endpoint *theirs, struct ibv_ah_attr *path_out);
enum ibv_mtu shmemt_ibverbs_device_mtu(const struct ib_port *mine, const struct ib_endpoint *theirs);

/* Does the device execute atomics of 8 bytes (fetch-add and compare-swap)? coherent_out: together with those of the CPU. */
bool shmemt_ibverbs_device_atomics(const struct ib_port *port, bool *coherent_out);

unsigned shmemt_ibverbs_device_mtu_bytes(enum ibv_mtu mtu);

#endif
