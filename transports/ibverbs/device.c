/* SPDX-License-Identifier: Apache-2.0
 *
 * The choice of a port. Each port of each device is looked at once: it becomes a candidate, or a few words on why not. Then candidates are struck out,
 * rule by rule, until those that are left are as good as each other.
 */
#include "transports/ibverbs/device.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CANDIDATES_MAX = 64, GIDS_MAX = 1024 };

struct search {
    const char    *root;
    struct ib_cpus cpus;
    bool           needs_atomics;
    const char    *names;                /* as the user gave them, or NULL */
    int            gid_index, mtu_bytes; /* -1, 0: by default */
    bool           met_named;

    struct ib_port candidates[CANDIDATES_MAX];
    int            count;
    char           all[160], refused[160]; /* names; names and reasons */
};

/* ---- text ---- */

static void append(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t bytes, const char *format, ...)
{
    size_t  used = strlen(text);
    va_list args;
    va_start(args, format);
    if (used + 1 < bytes) vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

static void refuse(struct search *search, const char *device, int port, const char *why)
{
    append(search->refused, sizeof search->refused, "%s%s", search->refused[0] ? ", " : "", device);
    if (port > 0) append(search->refused, sizeof search->refused, ":%d", port);
    append(search->refused, sizeof search->refused, " %s", why);
}

/* A GID as people know it: 10.0.0.1, or an IPv6 address. */
static const char *gid_text(const union ibv_gid *gid, char *buffer, size_t bytes)
{
    struct in6_addr address;
    memcpy(&address, gid->raw, sizeof address);
    const void *at     = IN6_IS_ADDR_V4MAPPED(&address) ? (const void *)&address.s6_addr[12] : &address;
    int         family = IN6_IS_ADDR_V4MAPPED(&address) ? AF_INET : AF_INET6;
    return inet_ntop(family, at, buffer, (socklen_t)bytes) ? buffer : "";
}

static bool gid_is_v4(const union ibv_gid *gid)
{
    struct in6_addr address;
    memcpy(&address, gid->raw, sizeof address);
    return IN6_IS_ADDR_V4MAPPED(&address);
}

/* ---- options ---- */

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "auto") != 0 ? value : NULL;
}

static int number_setting(const char *name, int unset)
{
    const char *value = setting(name);
    return value ? atoi(value) : unset;
}

/* Does a list such as "mlx5_0:1,mlx5_1" name this port? port 0: any port of the device. */
static bool is_named(const char *names, const char *device, int port)
{
    size_t length = strlen(device);
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t word = strcspn(at, ",");
        if (strncmp(at, device, length) != 0) continue;
        if (word == length) return true;
        if (at[length] == ':' && (port == 0 || atoi(at + length + 1) == port)) return true;
    }
    return false;
}

/* ---- one port ---- */

static unsigned rate_of(const struct ibv_port_attr *attr)
{
    /* SPEC InfiniBand 14.2.5.6 PortInfo: one bit per speed of a lane, one per number of lanes. */
    static const struct {
        unsigned code, mbps;
    } speeds[]     = {{1, 2500}, {2, 5000}, {4, 10000}, {8, 10000}, {16, 14000}, {32, 25000}, {64, 50000}, {128, 100000}},
      widths[]     = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
    unsigned speed = 0, width = 0;
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++)
        if (speeds[i].code == attr->active_speed) speed = speeds[i].mbps;
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
        if (widths[i].code == attr->active_width) width = widths[i].mbps;
    return speed * width;
}

static int rate_gid(const struct ibv_gid_entry *entry, bool ethernet)
{
    static const union ibv_gid zero = {{0}};
    struct in6_addr            address;
    memcpy(&address, entry->gid.raw, sizeof address);
    if (memcmp(entry->gid.raw, zero.raw, sizeof zero.raw) == 0) return 0;
    if (!ethernet) return 1;
    /* That of another network namespace is listed too, and no connection can be made with it. */
    char name[IF_NAMESIZE];
    if (entry->ndev_ifindex != 0 && !if_indextoname(entry->ndev_ifindex, name)) return 1;
    int rating = entry->gid_type == IBV_GID_TYPE_ROCE_V2 ? 10 : 1; /* version 1 passes no router */
    if (IN6_IS_ADDR_V4MAPPED(&address)) return rating + 3;
    return rating + (IN6_IS_ADDR_LINKLOCAL(&address) ? 1 : 2);
}

/* All GIDs of a device. Linux refuses a table that is larger than it can copy at once (6.1: between 1024 and 4096 entries). */
static ssize_t list_gids(struct ibv_context *context, struct ibv_gid_entry *entries)
{
    ssize_t count = -EINVAL;
    for (size_t room = GIDS_MAX; count < 0 && room >= 16; room /= 2) count = ibv_query_gid_table(context, entries, room, 0);
    return count;
}

/* The GID of a port: that of the user's index, else the best, and of equals the first. NULL, or why there is none. */
static const char *choose_gid(struct ibv_context *context, const struct search *search, struct ib_port *port)
{
    struct ibv_gid_entry *entries  = calloc(GIDS_MAX, sizeof *entries);
    bool                  ethernet = port->attr.link_layer == IBV_LINK_LAYER_ETHERNET;
    int                   best     = 0;
    if (!entries) return "no memory for its GIDs";
    ssize_t count = list_gids(context, entries);
    for (ssize_t i = 0; i < count; i++) {
        if (entries[i].port_num != port->number || entries[i].gid_index > UINT8_MAX) continue;
        if (search->gid_index >= 0 && entries[i].gid_index != (uint32_t)search->gid_index) continue;
        int rating = rate_gid(&entries[i], ethernet);
        if (rating <= best) continue;
        best                    = rating;
        port->gid_index         = (uint8_t)entries[i].gid_index;
        port->endpoint.gid      = entries[i].gid;
        port->endpoint.gid_type = (uint8_t)entries[i].gid_type;
    }
    free(entries);
    if (best > 0) return NULL;
    return search->gid_index >= 0 ? "has no GID at POSTERN_IB_GID_INDEX" : "has no GID";
}

unsigned shmemt_ibverbs_device_mtu_bytes(enum ibv_mtu mtu)
{
    return 128u << mtu;
}

/* What the user asks for, where the port can do it. */
static uint8_t choose_mtu(const struct search *search, const struct ibv_port_attr *attr)
{
    enum ibv_mtu mtu = attr->active_mtu;
    while (search->mtu_bytes > 0 && mtu > IBV_MTU_256 && shmemt_ibverbs_device_mtu_bytes(mtu) > (unsigned)search->mtu_bytes) mtu--;
    return (uint8_t)mtu;
}

static const char *state_text(enum ibv_port_state state)
{
    switch (state) {
    case IBV_PORT_DOWN: return "is down";
    case IBV_PORT_INIT:
    case IBV_PORT_ARMED: return "waits for a subnet manager";
    default: return "is not active";
    }
}

static const char *look_at_port(struct ibv_context *context, const struct search *search, struct ib_port *port)
{
    bool coherent;
    if (ibv_query_port(context, port->number, &port->attr) != 0) return "cannot be queried";
    if (port->attr.state != IBV_PORT_ACTIVE) return state_text(port->attr.state);
    if (search->needs_atomics && !shmemt_ibverbs_device_atomics(port, &coherent)) return "has no atomics (POSTERN_AMO=nic)";
    /* Drivers older than the field leave 0 there, which means InfiniBand. */
    if (port->attr.link_layer == IBV_LINK_LAYER_UNSPECIFIED) port->attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
    port->endpoint.link = port->attr.link_layer;
    port->endpoint.lid  = port->attr.lid;
    port->endpoint.mtu  = choose_mtu(search, &port->attr);
    port->rate_mbps     = rate_of(&port->attr);
    if (port->rate_mbps == 0) port->rate_mbps = shmemt_ibverbs_topology_rate_mbps(search->root, port->device, port->number);
    return choose_gid(context, search, port);
}

/* ---- one device ---- */

static bool pages_on_demand(struct ibv_context *context)
{
    const uint32_t            needed = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
    struct ibv_device_attr_ex attr   = {.comp_mask = 0};
    if (ibv_query_device_ex(context, NULL, &attr) != 0) return false;
    return (attr.odp_caps.general_caps & IBV_ODP_SUPPORT) && (attr.odp_caps.per_transport_caps.rc_odp_caps & needed) == needed;
}

static void look_at_open(struct search *search, struct ibv_context *context, const char *name)
{
    struct ib_port port = {.device = ""};
    snprintf(port.device, sizeof port.device, "%s", name);
    if (ibv_query_device(context, &port.limits) != 0) {
        refuse(search, name, 0, "cannot be queried");
        return;
    }
    port.odp = pages_on_demand(context);
    shmemt_ibverbs_topology_place(search->root, name, &search->cpus, &port.place);
    for (int number = 1; number <= port.limits.phys_port_cnt; number++) {
        struct ib_port one = port;
        one.number         = (uint8_t)number;
        if (search->names && !is_named(search->names, name, number)) continue;
        const char *why = look_at_port(context, search, &one);
        if (why) refuse(search, name, number, why);
        else if (search->count < CANDIDATES_MAX) search->candidates[search->count++] = one;
    }
}

static struct ibv_context *open_device(struct ibv_device *device, char *why, size_t why_bytes)
{
    errno                       = 0;
    struct ibv_context *context = ibv_open_device(device);
    if (context) return context;
    int err = errno ? errno : EIO;
    snprintf(why, why_bytes, "cannot be opened: %s%s", strerror(err),
             err == EACCES || err == EPERM ? ", /dev/infiniband is not for this user" : "");
    return NULL;
}

static void look_at_device(struct search *search, struct ibv_device *device)
{
    const char *name = ibv_get_device_name(device);
    char        why[120];
    append(search->all, sizeof search->all, "%s%s", search->all[0] ? ", " : "", name);
    if (search->names && !is_named(search->names, name, 0)) return;
    search->met_named = true;
    if (device->transport_type != IBV_TRANSPORT_IB) {
        refuse(search, name, 0, device->transport_type == IBV_TRANSPORT_IWARP ? "is iWARP" : "has no reliable connections");
        return;
    }
    struct ibv_context *context = open_device(device, why, sizeof why);
    if (!context) {
        refuse(search, name, 0, why);
        return;
    }
    look_at_open(search, context, name);
    ibv_close_device(context);
}

/* ---- the rules ---- */

static unsigned link_of(const struct ib_port *port)
{
    return port->endpoint.link == IBV_LINK_LAYER_INFINIBAND ? 1 : 0;
}

static unsigned rate_of_port(const struct ib_port *port)
{
    return port->rate_mbps;
}

static unsigned nearness(const struct ib_port *port)
{
    return UINT32_MAX - port->place.distance;
}

/* Strike out what is below 1/divisor of the best. The order stays. */
static void keep_best(struct search *search, unsigned (*value)(const struct ib_port *), unsigned divisor)
{
    unsigned best = 0;
    int      kept = 0;
    for (int i = 0; i < search->count; i++)
        if (value(&search->candidates[i]) > best) best = value(&search->candidates[i]);
    for (int i = 0; i < search->count; i++)
        if (value(&search->candidates[i]) >= best / divisor) search->candidates[kept++] = search->candidates[i];
    search->count = kept;
}

/* The list of libibverbs has no promised order, and PEs that take turns must count alike. */
static int compare_ports(const void *a, const void *b)
{
    const struct ib_port *left = a, *right = b;
    int                   order = strverscmp(left->device, right->device);
    return order ? order : left->number - right->number;
}

static void no_port(const struct search *search, char *detail, size_t bytes)
{
    if (!search->all[0]) snprintf(detail, bytes, "there is no RDMA device");
    else if (search->names && !search->met_named)
        snprintf(detail, bytes, "no device %s (POSTERN_IB_DEVICE); there is %s", search->names, search->all);
    else if (search->refused[0]) snprintf(detail, bytes, "%s", search->refused);
    else snprintf(detail, bytes, "no port %s (POSTERN_IB_DEVICE)", search->names ? search->names : "that works");
}

static void look_at_all(struct search *search, struct ibv_device **list)
{
    for (int i = 0; list[i]; i++) look_at_device(search, list[i]);
    qsort(search->candidates, (size_t)search->count, sizeof search->candidates[0], compare_ports);
    keep_best(search, link_of, 1);
    if (!search->names) keep_best(search, rate_of_port, 2);
    keep_best(search, nearness, 1);
}

static struct ibv_device *find_device(struct ibv_device **list, const char *name)
{
    for (int i = 0; list[i]; i++)
        if (strcmp(ibv_get_device_name(list[i]), name) == 0) return list[i];
    return NULL;
}

static int open_chosen(const struct search *search, struct ibv_device **list, const struct ib_port *port,
                       struct ib_device *device_out, char *detail, size_t detail_bytes)
{
    struct ib_device   device = {.port = *port, .equals = search->count};
    struct ibv_device *found  = find_device(list, port->device);
    char               why[120];
    assert(found);
    device.context = open_device(found, why, sizeof why);
    if (!device.context) {
        snprintf(detail, detail_bytes, "%s %s", port->device, why);
        return -ENODEV;
    }
    device.near  = shmemt_ibverbs_topology_near(&search->cpus, &port->place);
    unsigned mtu = shmemt_ibverbs_device_mtu_bytes(port->attr.active_mtu);
    if (search->mtu_bytes > (int)mtu) snprintf(device.note, sizeof device.note, "POSTERN_IB_MTU is more than the port's %u", mtu);
    *device_out = device;
    return 0;
}

int shmemt_ibverbs_device_open(const struct shmemt_job *job, const char *sys_root, struct ib_device *device_out, char *detail,
                               size_t detail_bytes)
{
    struct ibv_device **list   = ibv_get_device_list(NULL);
    struct search      *search = calloc(1, sizeof *search);
    int                 err    = -ENODEV;
    if (!search) {
        err = -ENOMEM;
        snprintf(detail, detail_bytes, "%s", strerror(ENOMEM));
        goto out;
    }
    if (!list) {
        snprintf(detail, detail_bytes, "the kernel has no RDMA (modprobe ib_uverbs)");
        goto out;
    }
    search->root          = sys_root;
    search->needs_atomics = job->agent == SHMEMT_AGENT_NIC;
    search->names         = setting("POSTERN_IB_DEVICE");
    search->gid_index     = number_setting("POSTERN_IB_GID_INDEX", -1);
    search->mtu_bytes     = number_setting("POSTERN_IB_MTU", 0);
    shmemt_ibverbs_topology_own_cpus(&search->cpus);
    look_at_all(search, list);
    if (search->count == 0) {
        no_port(search, detail, detail_bytes);
        goto out;
    }
    int local = job->local_of ? job->local_of[job->my_pe] : 0;
    int turn  = shmemt_ibverbs_topology_turn(sys_root, &search->cpus, local > 0 ? local : 0, job->local_pes);
    err       = open_chosen(search, list, &search->candidates[turn % search->count], device_out, detail, detail_bytes);
out:
    free(search);
    if (list) ibv_free_device_list(list);
    return err;
}

void shmemt_ibverbs_device_close(struct ib_device *device)
{
    if (device->context) ibv_close_device(device->context);
    *device = (struct ib_device){.context = NULL};
}

/* ---- what is known of the port ---- */

static const char *link_text(const struct ib_endpoint *endpoint)
{
    if (endpoint->link == IBV_LINK_LAYER_INFINIBAND) return "InfiniBand";
    return endpoint->gid_type == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2" : "RoCE v1";
}

void shmemt_ibverbs_device_describe(const struct ib_device *device, char *text, size_t bytes)
{
    const struct ib_port *port = &device->port;
    char                  gid[INET6_ADDRSTRLEN];
    snprintf(text, bytes, "%s:%d, %s", port->device, port->number, link_text(&port->endpoint));
    if (port->rate_mbps % 1000) append(text, bytes, " %u.%u Gb/s", port->rate_mbps / 1000, port->rate_mbps % 1000 / 100);
    else if (port->rate_mbps) append(text, bytes, " %u Gb/s", port->rate_mbps / 1000);
    append(text, bytes, ", MTU %u", shmemt_ibverbs_device_mtu_bytes((enum ibv_mtu)port->endpoint.mtu));
    if (port->endpoint.link == IBV_LINK_LAYER_INFINIBAND) append(text, bytes, ", LID %u", port->endpoint.lid);
    else append(text, bytes, ", GID %d %s", port->gid_index, gid_text(&port->endpoint.gid, gid, sizeof gid));
    if (port->place.numa_node >= 0) append(text, bytes, ", NUMA node %d", port->place.numa_node);
    if (device->equals > 1) append(text, bytes, ", 1 of %d", device->equals);
    if (device->note[0]) append(text, bytes, " (%s)", device->note);
}

const char *shmemt_ibverbs_device_mismatch(const struct ib_endpoint *mine, const struct ib_endpoint *theirs)
{
    if (mine->link != theirs->link) return "one has InfiniBand and the other Ethernet (POSTERN_IB_DEVICE)";
    if (mine->link == IBV_LINK_LAYER_INFINIBAND) return NULL;
    if (mine->gid_type != theirs->gid_type) return "one has RoCE v1 and the other v2 (POSTERN_IB_GID_INDEX)";
    if (gid_is_v4(&mine->gid) != gid_is_v4(&theirs->gid)) return "one has an IPv4 GID and the other IPv6 (POSTERN_IB_GID_INDEX)";
    return NULL;
}

/* LIDs reach the own subnet, and a GID all. Those of multicast and above are no LIDs of a port. */
static bool needs_gid(const struct ib_port *mine, const struct ib_endpoint *theirs)
{
    if (theirs->link == IBV_LINK_LAYER_ETHERNET) return true;
    if (theirs->lid == 0 || theirs->lid >= 0xc000 || (mine->attr.flags & IBV_QPF_GRH_REQUIRED)) return true;
    return mine->endpoint.gid.global.subnet_prefix != theirs->gid.global.subnet_prefix;
}

void shmemt_ibverbs_device_path(const struct ib_port *mine, const struct ib_endpoint *theirs, struct ibv_ah_attr *path_out)
{
    struct ibv_ah_attr path = {
        .dlid     = theirs->lid,
        .sl       = (uint8_t)number_setting("POSTERN_IB_SL", 0),
        .port_num = mine->number,
    };
    if (needs_gid(mine, theirs)) {
        path.is_global         = 1;
        path.grh.dgid          = theirs->gid;
        path.grh.sgid_index    = mine->gid_index;
        path.grh.hop_limit     = 64;
        path.grh.traffic_class = (uint8_t)number_setting("POSTERN_IB_TRAFFIC_CLASS", 0);
    }
    *path_out = path;
}

enum ibv_mtu shmemt_ibverbs_device_mtu(const struct ib_port *mine, const struct ib_endpoint *theirs)
{
    return (enum ibv_mtu)(mine->endpoint.mtu < theirs->mtu ? mine->endpoint.mtu : theirs->mtu);
}

bool shmemt_ibverbs_device_atomics(const struct ib_port *port, bool *coherent_out)
{
    *coherent_out = port->limits.atomic_cap == IBV_ATOMIC_GLOB;
    return port->limits.atomic_cap != IBV_ATOMIC_NONE;
}
