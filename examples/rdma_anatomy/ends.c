/* SPDX-License-Identifier: Apache-2.0
 *
 * From a device to connected queue pairs: all that has to be there before the first byte can move. It is slow (registering memory
 * pins its pages, each change of state is a system call) and is done once. From then on the operating system is not asked again.
 */
#include "anatomy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORT = 1 };

static struct ibv_context *open_device(const char *name)
{
    int                 count   = 0;
    struct ibv_device **devices = ibv_get_device_list(&count);
    struct ibv_context *context = NULL;

    for (int i = 0; i < count && !context; i++)
        if (!name || strcmp(name, ibv_get_device_name(devices[i])) == 0) context = ibv_open_device(devices[i]);
    if (devices) ibv_free_device_list(devices);
    if (context) return context;
    die("could not open an RDMA device", count ? "none has this name, or it may not be opened" : "libibverbs finds none",
        "see ibv_devices, name one by --device, or use the simulated one: LD_LIBRARY_PATH=<build>/tests/simverbs/lib");
}

/*
 * The port's address. On Ethernet (RoCE) it is a GID, and there are several in a table: one per IP address and version of RoCE.
 * Version 2 travels in UDP and can be routed. On InfiniBand it is the LID, a number that the subnet manager gave.
 */
static void find_address(struct end *end)
{
    if (ibv_query_port(end->context, PORT, &end->port) || end->port.state != IBV_PORT_ACTIVE)
        die("cannot use port 1 of the device", "it is not active", "see ibv_devinfo, and name another device by --device");
    if (end->port.link_layer != IBV_LINK_LAYER_ETHERNET) return;
    for (int i = 0; i < end->port.gid_tbl_len; i++)
        if (ibv_query_gid_ex(end->context, PORT, (uint32_t)i, &end->gid, 0) == 0 && end->gid.gid_type == IBV_GID_TYPE_ROCE_V2)
            return;
    die("cannot use port 1 of the device", "it has no GID of RoCE version 2", "give its network interface an IP address");
}

/*
 * Memory that the device may reach. Registering pins the pages, tells the device where they are, and gives two keys: a request of
 * this end names its own memory by the local key, and the other end's requests name it by the remote key. Who has neither key nor
 * permission gets nothing: the device looks at each access, since no operating system will.
 */
static void register_memory(struct end *end, const struct shape *shape)
{
    unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | shape->access;

    end->bytes  = shape->bytes;
    end->memory = aligned_alloc(4096, (shape->bytes + 4095) / 4096 * 4096);
    if (!end->memory) die("could not allocate memory", strerror(errno), "free some");
    memset(end->memory, 0, end->bytes);
    end->region = ibv_reg_mr(end->domain, end->memory, end->bytes, access);
    if (!end->region) die("could not register memory", strerror(errno), "raise the limit on locked memory: ulimit -l");
}

/*
 * A queue pair: a send queue, into which this end puts work requests, and a receive queue, where those requests of the other end
 * that need one find a receive. RC is "reliable connection": the devices acknowledge, repeat, and keep the order.
 */
static struct ibv_qp *create_queue_pair(struct end *end, unsigned depth)
{
    struct ibv_qp_init_attr attr = {
        .send_cq = end->cq,
        .recv_cq = end->cq,
        .qp_type = IBV_QPT_RC,
        .cap     = {.max_send_wr = depth, .max_recv_wr = depth, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp *qp = ibv_create_qp(end->domain, &attr);

    if (!qp) die("could not create a queue pair", strerror(errno), "take a smaller --depth");
    return qp;
}

static void change_state(struct ibv_qp *qp, struct ibv_qp_attr attr, int mask)
{
    int err = ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE);

    if (err) die("could not connect a queue pair", strerror(err), "see that a ping over this network interface works");
}

/* Three changes of state, and it can send. Only the second one knows who the peer is. */
static void connect_queue_pair(struct ibv_qp *qp, const struct end *peer, const struct ibv_qp *peer_qp, enum ibv_mtu mtu)
{
    /* INIT: which port, and what the peer may do here at all. */
    change_state(qp, (struct ibv_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE},
                 IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

    /* RTR, "ready to receive": the peer's address and its queue pair's number, which processes tell each other by other means. */
    struct ibv_ah_attr address = {.dlid = peer->port.lid, .port_num = PORT};
    if (peer->port.link_layer == IBV_LINK_LAYER_ETHERNET) {
        address.is_global = 1;
        address.grh = (struct ibv_global_route){.dgid = peer->gid.gid, .sgid_index = (uint8_t)peer->gid.gid_index, .hop_limit = 64};
    }
    change_state(qp,
                 (struct ibv_qp_attr){.qp_state      = IBV_QPS_RTR,
                                      .path_mtu      = mtu ? mtu : peer->port.active_mtu,
                                      .dest_qp_num   = peer_qp->qp_num,
                                      .min_rnr_timer = 12, /* 0.64 ms, until a write with immediate looks again for a receive */
                                      .ah_attr       = address},
                 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);

    /* RTS, "ready to send": how long to wait for an acknowledgement (4.096 us * 2^16 = 0.27 s), and how often to try. */
    change_state(qp, (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .timeout = 16, .retry_cnt = 6, .rnr_retry = 7},
                 IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void open_end(struct end *end, const char *name, const char *device, const struct shape *shape)
{
    *end = (struct end){.name = name, .context = open_device(device), .queue_pair_count = shape->queue_pairs};
    find_address(end);
    end->domain = ibv_alloc_pd(end->context);
    /* Every request and every receive of all queue pairs may be completed before anybody looks. */
    end->cq = ibv_create_cq(end->context, (int)(2 * shape->depth * shape->queue_pairs), NULL, NULL, 0);
    if (!end->domain || !end->cq) die("could not create a protection domain and a completion queue", strerror(errno), "see dmesg");
    register_memory(end, shape);
    for (unsigned i = 0; i < end->queue_pair_count; i++) end->queue_pairs[i] = create_queue_pair(end, shape->depth);
}

void ends_open(struct end *a, struct end *b, const char *device, const struct shape *shape)
{
    open_end(a, "A", device, shape);
    open_end(b, "B", device, shape);
    for (unsigned i = 0; i < shape->queue_pairs; i++) {
        connect_queue_pair(a->queue_pairs[i], b, b->queue_pairs[i], shape->mtu);
        connect_queue_pair(b->queue_pairs[i], a, a->queue_pairs[i], shape->mtu);
    }
}

static void close_end(struct end *end)
{
    for (unsigned i = 0; i < end->queue_pair_count; i++) ibv_destroy_qp(end->queue_pairs[i]);
    ibv_dereg_mr(end->region);
    free(end->memory);
    ibv_destroy_cq(end->cq);
    ibv_dealloc_pd(end->domain);
    ibv_close_device(end->context);
}

void ends_close(struct end *a, struct end *b)
{
    close_end(a);
    close_end(b);
}
