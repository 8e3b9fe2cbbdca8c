/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of libibverbs that choosing a device and registering memory call, over a list of devices that the test writes. Linked in place
 * of the library. What a registration is asked for goes to fake_register(), which the test may replace.
 */
#ifndef SHMEMI_UNIT_IBVERBS_FAKE_H
#define SHMEMI_UNIT_IBVERBS_FAKE_H

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_get_device_list

/* ---- devices ---- */

enum { FAKE_DEVICES_MAX = 8, FAKE_PORTS_MAX = 2, FAKE_GIDS_MAX = 6 };

struct fake_gid {
    const char       *address; /* IPv6, or IPv4 for a mapped one; NULL: none */
    enum ibv_gid_type type;
    uint32_t          interface; /* 0: not told */
};

struct fake_port {
    enum ibv_port_state state; /* 0: there is no such port */
    uint8_t             link, speed, width, flags;
    enum ibv_mtu        mtu;
    uint16_t            lid;
    struct fake_gid     gids[FAKE_GIDS_MAX];
};

struct fake_device {
    const char             *name; /* NULL: the list ends */
    enum ibv_transport_type transport;
    int                     open_error;
    enum ibv_atomic_cap     atomics;
    bool                    odp;
    struct fake_port        ports[FAKE_PORTS_MAX];
};

static const struct fake_device *fake_devices; /* NULL: the kernel has no RDMA */
static int                       fake_open;    /* devices that are open now */

struct fake_context {
    struct verbs_context verbs;
};

static struct ibv_device   fake_list[FAKE_DEVICES_MAX];
static struct fake_context fake_contexts[FAKE_DEVICES_MAX];

struct ibv_device **ibv_get_device_list(int *count_out)
{
    if (!fake_devices) {
        errno = ENOSYS;
        return NULL;
    }
    struct ibv_device **list  = calloc(FAKE_DEVICES_MAX + 1, sizeof(struct ibv_device *));
    int                 count = 0;
    for (; list && fake_devices[count].name; count++) {
        strncpy(fake_list[count].name, fake_devices[count].name, sizeof fake_list[count].name - 1);
        fake_list[count].transport_type = fake_devices[count].transport;
        list[count]                     = &fake_list[count];
    }
    if (count_out) *count_out = count;
    return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    return fake_devices[device - fake_list].name;
}

static const struct fake_device *fake_of(const struct ibv_context *context)
{
    return &fake_devices[context->device - fake_list];
}

static int fake_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                                struct ibv_device_attr_ex *attr, size_t bytes)
{
    (void)input;
    memset(attr, 0, bytes);
    if (!fake_of(context)->odp) return 0;
    attr->odp_caps.general_caps                   = IBV_ODP_SUPPORT;
    attr->odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
    return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    struct fake_context *context = &fake_contexts[device - fake_list];
    errno                        = fake_devices[device - fake_list].open_error;
    if (errno) return NULL;
    fake_open++;
    *context = (struct fake_context){.verbs = {.sz              = sizeof(struct verbs_context),
                                               .query_device_ex = fake_query_device_ex,
                                               .context         = {.device = device, .abi_compat = __VERBS_ABI_IS_EXTENDED}}};
    return &context->verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
    (void)context;
    fake_open--;
    return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    const struct fake_device *device = fake_of(context);
    *attr                            = (struct ibv_device_attr){.atomic_cap = device->atomics};
    while (attr->phys_port_cnt < FAKE_PORTS_MAX && device->ports[attr->phys_port_cnt].state) attr->phys_port_cnt++;
    return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *attr_out)
{
    const struct fake_port *port = &fake_of(context)->ports[number - 1];
    struct ibv_port_attr   *attr = (struct ibv_port_attr *)(void *)attr_out;
    attr->state                  = port->state;
    attr->link_layer             = port->link;
    attr->active_speed           = port->speed;
    attr->active_width           = port->width;
    attr->active_mtu = attr->max_mtu = port->mtu;
    attr->lid                        = port->lid;
    attr->flags                      = port->flags;
    return 0;
}

static union ibv_gid fake_gid_of(const char *address)
{
    union ibv_gid gid = {{0}};
    if (inet_pton(AF_INET6, address, gid.raw) == 1) return gid;
    memset(&gid.raw[10], 0xff, 2);
    if (inet_pton(AF_INET, address, &gid.raw[12]) != 1) abort();
    return gid;
}

ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags, size_t bytes)
{
    size_t count = 0;
    (void)flags;
    if (max * bytes > 16384) return -EINVAL; /* the kernel has such a limit, and tells nobody which */
    for (int port = 0; port < FAKE_PORTS_MAX; port++)
        for (int i = 0; i < FAKE_GIDS_MAX && count < max; i++) {
            const struct fake_gid *gid = &fake_of(context)->ports[port].gids[i];
            if (!gid->address) continue;
            entries[count++] = (struct ibv_gid_entry){.gid          = fake_gid_of(gid->address),
                                                      .gid_index    = (uint32_t)i,
                                                      .port_num     = (uint32_t)port + 1,
                                                      .gid_type     = gid->type,
                                                      .ndev_ifindex = gid->interface};
        }
    return (ssize_t)count;
}

/* ---- registration ---- */

struct fake_mr {
    struct ibv_mr mr;
    unsigned      access;
};

static _Atomic int fake_registered, fake_keys;
/* What the next registration answers: 0, or an errno. Asked for each. */
static int (*fake_refusal)(const void *base, size_t bytes, unsigned access);
static void (*fake_forgotten)(const struct fake_mr *mr);

static struct ibv_mr *fake_register(struct ibv_pd *pd, void *base, size_t bytes, unsigned access)
{
    int err = fake_refusal ? fake_refusal(base, bytes, access) : 0;
    if (err) {
        errno = err;
        return NULL;
    }
    struct fake_mr *mr = malloc(sizeof *mr);
    if (!mr) return NULL;
    uint32_t key = (uint32_t)atomic_fetch_add(&fake_keys, 1) + 1;
    atomic_fetch_add(&fake_registered, 1);
    *mr = (struct fake_mr){.mr = {.pd = pd, .addr = base, .length = bytes, .lkey = key, .rkey = key + 1000000}, .access = access};
    return &mr->mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *base, size_t bytes, uint64_t iova, unsigned access)
{
    if (iova != (uintptr_t)base) abort();
    return fake_register(pd, base, bytes, access);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *base, size_t bytes, int access)
{
    return fake_register(pd, base, bytes, (unsigned)access);
}

static int fake_dmabuf_error;

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access)
{
    (void)offset, (void)fd;
    errno = fake_dmabuf_error;
    return errno ? NULL : fake_register(pd, (void *)(uintptr_t)iova, bytes, (unsigned)access);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    if (fake_forgotten) fake_forgotten((const struct fake_mr *)(const void *)mr);
    atomic_fetch_sub(&fake_registered, 1);
    free(mr);
    return 0;
}

#endif
