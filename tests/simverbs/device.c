/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices and their contexts: sim0 .. simN, one active port each, four GIDs as a RoCE port with one IPv4 address has.
 */
#include "schedule.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sim sim = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct sim_device devices[SIM_DEVICES_MAX];
static pthread_once_t    once = PTHREAD_ONCE_INIT;

/* Every verb begins here. */
void sim_lock(void)
{
    sim_schedule_yield();
    pthread_mutex_lock(&sim.lock);
}

void sim_unlock(void)
{
    pthread_mutex_unlock(&sim.lock);
}

/* ---- tables of objects ---- */

uint32_t sim_table_add(struct sim_table *table, void *item)
{
    if (table->next == 0) table->next = 1;
    if (table->next >= table->room) {
        uint32_t room  = table->room ? table->room * 2 : 64;
        void   **items = realloc(table->items, room * sizeof(*items));
        if (!items) return 0;
        memset(items + table->room, 0, (room - table->room) * sizeof(*items));
        table->items = items;
        table->room  = room;
    }
    table->items[table->next] = item;
    return table->next++;
}

void *sim_table_find(const struct sim_table *table, uint32_t number)
{
    return number < table->room ? table->items[number] : NULL;
}

void sim_table_remove(struct sim_table *table, uint32_t number)
{
    if (number < table->room) table->items[number] = NULL;
}

/* ---- addresses ---- */

static uint64_t guid(unsigned device)
{
    return UINT64_C(0x0250530000000000) | (uint64_t)sim_options.host << 8 | device;
}

union ibv_gid sim_device_gid(unsigned device, unsigned index)
{
    union ibv_gid gid = {.raw = {0}};

    if (sim_options.infiniband || index < 2) {
        gid.global.subnet_prefix = htobe64(UINT64_C(0xfe80000000000000));
        gid.global.interface_id  = htobe64(guid(device));
    } else { /* ::ffff:10.9.HOST.DEVICE+1 */
        gid.global.interface_id = htobe64(UINT64_C(0x0000ffff0a090000) | (uint64_t)sim_options.host << 8 | (uint64_t)(device + 1));
    }
    return gid;
}

bool sim_device_has_gid(unsigned device, const union ibv_gid *gid)
{
    for (unsigned index = 0; index < SIM_GIDS; index++) {
        union ibv_gid mine = sim_device_gid(device, index);
        if (memcmp(&mine, gid, sizeof(mine)) == 0) return true;
    }
    return false;
}

uint16_t sim_device_lid(unsigned device)
{
    return sim_options.infiniband ? (uint16_t)(1 + sim_options.host * SIM_DEVICES_MAX + device) : 0;
}

unsigned sim_mtu_bytes(enum ibv_mtu mtu)
{
    return 128U << mtu;
}

static unsigned gid_count(void)
{
    return sim_options.infiniband ? 1 : SIM_GIDS;
}

static unsigned gid_type(unsigned index)
{
    if (sim_options.infiniband) return IBV_GID_TYPE_IB;
    return index % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
}

/* ---- the list of devices ---- */

static void make_devices(void)
{
    if (!sim_schedule_on()) /* which reads them for each seed */
        sim_options_read();
    for (unsigned d = 0; d < sim_options.devices; d++) {
        struct ibv_device *device = &devices[d].device;
        devices[d].number         = d;
        device->node_type         = IBV_NODE_CA;
        device->transport_type    = IBV_TRANSPORT_IB;
        snprintf(device->name, sizeof(device->name), "sim%u", d);
        snprintf(device->dev_name, sizeof(device->dev_name), "uverbs%u", d);
        snprintf(device->dev_path, sizeof(device->dev_path), "/sys/class/infiniband_verbs/uverbs%u", d);
        snprintf(device->ibdev_path, sizeof(device->ibdev_path), "/sys/class/infiniband/sim%u", d);
    }
}

struct ibv_device **ibv_get_device_list(int *count_out)
{
    if (sim_schedule_on()) make_devices();
    else pthread_once(&once, make_devices);
    struct ibv_device **list = calloc(sim_options.devices + 1, sizeof(*list));
    if (!list) return NULL;
    for (unsigned d = 0; d < sim_options.devices; d++) list[d] = &devices[d].device;
    if (count_out) *count_out = (int)sim_options.devices;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return device->name;
}

int ibv_get_device_index(struct ibv_device *device)
{
    return (int)((struct sim_device *)device)->number;
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
    return htobe64(guid(((struct sim_device *)device)->number));
}

/* ---- queries ---- */

static void fill_device(unsigned device, struct ibv_device_attr *attr)
{
    *attr = (struct ibv_device_attr){
        .fw_ver              = "1.0",
        .node_guid           = htobe64(guid(device)),
        .sys_image_guid      = htobe64(guid(device)),
        .max_mr_size         = UINT64_MAX,
        .page_size_cap       = 4096,
        .vendor_part_id      = 1,
        .max_qp              = (1 << 17) - 2,
        .max_qp_wr           = (int)sim_options.qp_wr_max,
        .device_cap_flags    = IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_PORT_ACTIVE_EVENT,
        .max_sge             = (int)sim_options.sge_max,
        .max_sge_rd          = (int)sim_options.sge_max,
        .max_cq              = 1 << 16,
        .max_cqe             = (int)sim_options.cqe_max,
        .max_mr              = 1 << 20,
        .max_pd              = 1 << 16,
        .max_qp_rd_atom      = (int)sim_options.read_max,
        .max_res_rd_atom     = (int)sim_options.read_max << 16,
        .max_qp_init_rd_atom = (int)sim_options.read_max,
        .atomic_cap          = (enum ibv_atomic_cap)sim_options.atomic,
        .max_ah              = 1 << 20,
        .max_srq             = 1 << 16,
        .max_srq_wr          = (int)sim_options.srq_wr_max,
        .max_srq_sge         = (int)sim_options.sge_max,
        .max_pkeys           = 1,
        .local_ca_ack_delay  = 15,
        .phys_port_cnt       = 1,
    };
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    fill_device(sim_context_of(context)->device, attr);
    return 0;
}

static int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t attr_bytes)
{
    struct ibv_device_attr_ex full = {.phys_port_cnt_ex = 1, .hca_core_clock = 1000000};

    if (input && input->comp_mask) return EINVAL;
    if (attr_bytes < sizeof(struct ibv_device_attr)) return EINVAL;
    fill_device(sim_context_of(context)->device, &full.orig_attr);
    full.completion_timestamp_mask = UINT64_MAX;
    if (sim_options.atomic == IBV_ATOMIC_GLOB)
        full.pci_atomic_caps = (struct ibv_pci_atomic_caps){
            .fetch_add    = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP,
            .swap         = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP,
            .compare_swap = IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP,
        };
    memcpy(attr, &full, attr_bytes < sizeof(full) ? attr_bytes : sizeof(full));
    return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t attr_bytes)
{
    unsigned             device = sim_context_of(context)->device;
    struct ibv_port_attr full   = {
          .state          = IBV_PORT_ACTIVE,
          .max_mtu        = IBV_MTU_4096,
          .active_mtu     = (enum ibv_mtu)sim_options.mtu,
          .gid_tbl_len    = (int)gid_count(),
          .port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
          .max_msg_sz     = sim_options.message_bytes_max,
          .pkey_tbl_len   = 1,
          .lid            = sim_device_lid(device),
          .sm_lid         = sim_device_lid(device),
          .max_vl_num     = 1,
          .subnet_timeout = 18,
          .active_width   = 2,  /* 4x   */
          .active_speed   = 32, /* EDR  */
          .phys_state     = 5,  /* up   */
          .link_layer     = sim_options.infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET,
    };

    if (port != 1) return EINVAL;
    memset(attr, 0, attr_bytes);
    memcpy(attr, &full, attr_bytes < sizeof(full) ? attr_bytes : sizeof(full));
    return 0;
}

/* The function behind the header's macro, for programs built long ago: their struct ends before the newer fields. */
int ibv_query_port(struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr)
{
    return query_port(context, port, (struct ibv_port_attr *)attr, offsetof(struct ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid)
{
    if (port != 1 || index < 0 || (unsigned)index >= gid_count()) {
        errno = EINVAL;
        return -1;
    }
    *gid = sim_device_gid(sim_context_of(context)->device, (unsigned)index);
    return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry, uint32_t query_flags,
                      size_t entry_bytes)
{
    if (port != 1 || index >= gid_count() || query_flags || entry_bytes < sizeof(*entry)) return EINVAL;
    memset(entry, 0, entry_bytes);
    *entry = (struct ibv_gid_entry){
        .gid       = sim_device_gid(sim_context_of(context)->device, index),
        .gid_index = index,
        .port_num  = port,
        .gid_type  = gid_type(index),
    };
    return 0;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t entries_max, uint32_t query_flags,
                             size_t entry_bytes)
{
    if (query_flags || entry_bytes < sizeof(*entries) || entries_max < gid_count()) return -EINVAL;
    for (uint32_t index = 0; index < gid_count(); index++)
        _ibv_query_gid_ex(context, 1, index, (struct ibv_gid_entry *)((char *)entries + index * entry_bytes), 0, entry_bytes);
    return (ssize_t)gid_count();
}

int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned index, unsigned *type_out);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port, unsigned index, unsigned *type_out)
{
    (void)context;
    if (port != 1 || index >= gid_count()) {
        errno = EINVAL;
        return -1;
    }
    *type_out = gid_type(index) == IBV_GID_TYPE_ROCE_V2; /* this old call knows 0: IB or v1, 1: v2 */
    return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
    (void)context;
    if (port != 1 || index != 0) {
        errno = EINVAL;
        return -1;
    }
    *pkey = htobe16(0xffff);
    return 0;
}

int ibv_get_pkey_index(struct ibv_context *context, uint8_t port, __be16 pkey)
{
    (void)context;
    return port == 1 && pkey == htobe16(0xffff) ? 0 : -1;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    uint64_t now = sim_now_ns();

    (void)context;
    if (values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) values->raw_clock = (struct timespec){.tv_sec = 0, .tv_nsec = (long)now};
    values->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
    return 0;
}

/* ---- contexts ---- */

static struct ibv_mw *no_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    (void)pd;
    (void)type;
    errno = EOPNOTSUPP;
    return NULL;
}

static int no_bind(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    (void)qp;
    (void)mw;
    (void)bind;
    return EOPNOTSUPP;
}

static int no_dealloc_mw(struct ibv_mw *mw)
{
    (void)mw;
    return EOPNOTSUPP;
}

/* The NIC's thread ends without sim.lock: who opens a device meanwhile waits for that. */
static pthread_mutex_t coming_and_going = PTHREAD_MUTEX_INITIALIZER;

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    int                 pipe_fds[2];
    struct sim_context *c = calloc(1, sizeof(*c));

    if (!c) return NULL;
    if (pipe2(pipe_fds, O_CLOEXEC) < 0) goto free_context;
    fcntl(pipe_fds[1], F_SETFL, O_NONBLOCK);
    pthread_mutex_lock(&coming_and_going);
    sim_lock();
    int err = sim.contexts == 0 ? sim_engine_start() : 0;
    if (!err) sim.contexts++;
    sim_unlock();
    pthread_mutex_unlock(&coming_and_going);
    if (err) {
        errno = err;
        goto close_pipe;
    }

    c->device         = ((struct sim_device *)device)->number;
    c->async_write_fd = pipe_fds[1];
    c->verbs          = (struct verbs_context){
                 .sz              = sizeof(struct verbs_context),
                 .query_port      = query_port,
                 .query_device_ex = query_device_ex,
                 .create_cq_ex    = sim_create_cq_ex,
                 .create_qp_ex    = sim_create_qp_ex,
                 .create_srq_ex   = sim_create_srq_ex,
                 .get_srq_num     = sim_get_srq_num,
                 .query_rt_values = query_rt_values,
    };
    c->verbs.context = (struct ibv_context){
        .device           = device,
        .cmd_fd           = -1,
        .async_fd         = pipe_fds[0],
        .num_comp_vectors = 1,
        .abi_compat       = __VERBS_ABI_IS_EXTENDED,
        .ops =
            {
                .alloc_mw      = no_mw,
                .bind_mw       = no_bind,
                .dealloc_mw    = no_dealloc_mw,
                .poll_cq       = sim_poll_cq,
                .req_notify_cq = sim_req_notify_cq,
                .post_srq_recv = sim_post_srq_recv,
                .post_send     = sim_post_send,
                .post_recv     = sim_post_recv,
            },
    };
    pthread_mutex_init(&c->verbs.context.mutex, NULL);
    return &c->verbs.context;

close_pipe:
    close(pipe_fds[0]);
    close(pipe_fds[1]);
free_context:
    free(c);
    return NULL;
}

int ibv_close_device(struct ibv_context *context)
{
    struct sim_context *c = sim_context_of(context);

    pthread_mutex_lock(&coming_and_going);
    sim_lock();
    bool last = --sim.contexts == 0;
    sim_unlock();
    if (last) sim_engine_stop();
    pthread_mutex_unlock(&coming_and_going);
    close(c->verbs.context.async_fd);
    close(c->async_write_fd);
    pthread_mutex_destroy(&c->verbs.context.mutex);
    free(c);
    return 0;
}
