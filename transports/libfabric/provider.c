/* SPDX-License-Identifier: Apache-2.0
 *
 * Which provider, on which device, with which address.
 *
 * libfabric lists all that it could use. The best known provider among them that can do what is needed (reliable datagrams, RMA, messages in order) is
 * taken: devices before sockets. udp, shm and the like are never taken unless POSTERN_FABRIC_PROVIDER names them: they lose
 * messages, or reach nobody on another machine.
 *
 * Of several addresses one is taken that others can reach, so far as this machine can tell: an interface that leads out (default route)
 * before one that does not, a real one before that of a virtual bridge, IPv4 before IPv6, any before link-local, and loopback last.
 */
#include "transports/libfabric/fabric.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Best first. `device`: only where the machine has an RDMA device; without, such a provider speaks over plain sockets, and worse than tcp.
 * Not verbs;ofi_rxm: our own ibverbs transport is the way to such devices, and where it has its reasons not to work, that would meet the same ones
 * in open(), too late to take tcp. It can be named.
 */
static const struct {
    const char *name;
    bool        device;
} known[] = {
    {"cxi", false}, {"efa", true}, {"psm3", true}, {"opx", true}, {"psm2", true}, {"tcp", false}, {"tcp;ofi_rxm", false},
};
enum { KNOWN = sizeof known / sizeof known[0] };

#define NEEDED_CAPS (FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define MR_MODES    (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)
#define ORDER       (FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_WAW)

/* ---- what is asked for ---- */

static unsigned forced_modes(void)
{
    static const struct {
        const char *word;
        unsigned    bits;
    } words[] = {
        {"local", FORCE_LOCAL},         {"virt_addr", FORCE_BASIC},     {"prov_key", FORCE_BASIC}, {"endpoint", FORCE_ENDPOINT},
        {"allocated", FORCE_ALLOCATED}, {"unordered", FORCE_UNORDERED}, {"device", FORCE_DEVICE},  {"lazy", FORCE_LAZY},
    };
    const char *text   = getenv("POSTERN_FABRIC_MR");
    unsigned    forced = 0;
    for (size_t i = 0; text && i < sizeof words / sizeof words[0]; i++)
        if (strstr(text, words[i].word)) forced |= words[i].bits;
    return forced;
}

static const char *setting(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool gpu_memory(const struct shmemt_job *job)
{
    return job->node_map[SHMEMT_SEGMENT_GPU].bytes > 0;
}

static struct fi_info *build_hints(const struct shmemt_job *job, const struct choice *choice, uint64_t order, bool hmem)
{
    struct fi_info *hints = choice->library->dupinfo(NULL);
    if (!hints) return NULL;
    const char *agent = setting("POSTERN_AMO");
    hints->caps       = NEEDED_CAPS | (hmem ? FI_HMEM : 0);
    if (job->agent == SHMEMT_AGENT_NIC || (agent && strcmp(agent, "nic") == 0)) hints->caps |= FI_ATOMIC;
    hints->mode                       = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;
    hints->ep_attr->type              = FI_EP_RDM;
    hints->domain_attr->mr_mode       = choice->forced & FORCE_BASIC ? FI_MR_BASIC : MR_MODES | (hmem ? FI_MR_HMEM : 0);
    hints->domain_attr->threading     = FI_THREAD_DOMAIN; /* one lock here, so the provider needs none */
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->tx_attr->msg_order         = order;
    hints->rx_attr->msg_order         = order;
    const char *provider = setting("POSTERN_FABRIC_PROVIDER"), *domain = setting("POSTERN_FABRIC_DOMAIN");
    if (provider) hints->fabric_attr->prov_name = strdup(provider);
    if (domain) hints->domain_attr->name = strdup(domain);
    return hints;
}

/* Append what matches to the list; -ENOMEM or libfabric's answer. */
static int list_providers(const struct shmemt_job *job, const struct choice *choice, uint64_t order, bool hmem,
                          struct fi_info **list_out)
{
    struct fi_info *hints = build_hints(job, choice, order, hmem);
    if (!hints) return -FI_ENOMEM;
    int err = shmemt_libfabric_library_getinfo(choice->library, hints, list_out);
    choice->library->freeinfo(hints);
    return err;
}

/* ---- addresses ---- */

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return (ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 24) == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* Does a line of the kernel's table of routes say that the interface leads out? */
static bool has_default_route(const char *interface)
{
    char  line[512], name[64], destination[64], bits[8];
    bool  found = false;
    FILE *file  = fopen("/proc/net/route", "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "%63s %63s", name, destination) == 2 && strcmp(destination, "00000000") == 0 &&
                strcmp(name, interface) == 0;
    if (file) fclose(file);
    file = found ? NULL : fopen("/proc/net/ipv6_route", "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "%63s %7s %*s %*s %*s %*s %*s %*s %*s %63s", destination, bits, name) == 3 &&
                strcmp(bits, "00") == 0 && strspn(destination, "0") == strlen(destination) && strcmp(name, interface) == 0;
    if (file) fclose(file);
    return found;
}

/* Bridges for containers and virtual machines of this host: their addresses are often the same on every host. */
static bool is_virtual(const char *interface)
{
    static const char *const prefixes[] = {"docker", "virbr", "podman", "cni", "lxcbr", "lxdbr", "br-"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (strncmp(interface, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

static int rate_address(const struct fi_info *info)
{
    if (info->addr_format != FI_SOCKADDR_IN && info->addr_format != FI_SOCKADDR_IN6 && info->addr_format != FI_SOCKADDR) return 0;
    const struct sockaddr *address = info->src_addr;
    const char            *name    = info->domain_attr->name;
    if (!address) return 0;
    if (is_loopback(address)) return 1;
    int rating = address->sa_family == AF_INET ? 5 : 4;
    if (address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)info->src_addr)->sin6_addr))
        return 2;
    if (name && has_default_route(name)) rating += 10;
    if (name && is_virtual(name)) rating = 3;
    return rating;
}

const char *shmemt_libfabric_provider_address(const void *address, size_t bytes, char *buffer, size_t buffer_bytes)
{
    const struct sockaddr *any = address;
    char                   text[INET6_ADDRSTRLEN];
    buffer[0] = '\0';
    if (!address || bytes < sizeof any->sa_family) return buffer;
    if (any->sa_family == AF_INET && bytes >= sizeof(struct sockaddr_in)) {
        const struct sockaddr_in *in = address;
        if (inet_ntop(AF_INET, &in->sin_addr, text, sizeof text)) snprintf(buffer, buffer_bytes, "%s", text);
    } else if (any->sa_family == AF_INET6 && bytes >= sizeof(struct sockaddr_in6)) {
        const struct sockaddr_in6 *in = address;
        if (inet_ntop(AF_INET6, &in->sin6_addr, text, sizeof text)) snprintf(buffer, buffer_bytes, "%s", text);
    }
    return buffer;
}

/* ---- the best ---- */

static bool rdma_device(void)
{
    DIR *dir   = opendir("/sys/class/infiniband");
    int  count = 0;
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count > 2;
}

/* 0: not to be taken. */
static int rate_provider(const char *name, bool named, bool device)
{
    for (int i = 0; i < KNOWN; i++)
        if (strcmp(known[i].name, name) == 0 && (named || device || !known[i].device)) return KNOWN - i + 1;
    return named ? 1 : 0;
}

struct best {
    struct fi_info *info;
    int             provider, address;
};

/* The first of equals stays: libfabric lists by preference too. */
static void look_at(struct fi_info *list, struct best *best, bool device)
{
    bool named = setting("POSTERN_FABRIC_PROVIDER") != NULL;
    for (struct fi_info *info = list; info; info = info->next) {
        int provider = rate_provider(info->fabric_attr->prov_name, named, device), address = rate_address(info);
        if (provider == 0 || info->domain_attr->mr_key_size > sizeof(uint64_t)) continue;
        if (best->info && (provider < best->provider || (provider == best->provider && address <= best->address))) continue;
        *best = (struct best){.info = info, .provider = provider, .address = address};
    }
}

static int pick(const struct shmemt_job *job, struct choice *choice)
{
    bool            device = rdma_device(), hmem = gpu_memory(job);
    struct fi_info *ordered = NULL, *plain = NULL;
    struct best     best = {0};
    int             err;
    do {
        err = list_providers(job, choice, ORDER, hmem, &ordered);
        if (err == 0) look_at(ordered, &best, device);
        /* A better provider that orders less is taken all the same. */
        if (list_providers(job, choice, FI_ORDER_SAS, hmem, &plain) == 0) look_at(plain, &best, device);
        if (!best.info && hmem) err = -FI_ENODATA; /* no provider knows GPU memory: once more without */
    } while (!best.info && hmem && !(hmem = false));
    if (best.info) choice->info = choice->library->dupinfo(best.info);
    else if (err == 0) err = -FI_ENODATA;
    if (ordered) choice->library->freeinfo(ordered);
    if (plain) choice->library->freeinfo(plain);
    if (choice->info) return 0;
    const char *provider = setting("POSTERN_FABRIC_PROVIDER"), *domain = setting("POSTERN_FABRIC_DOMAIN");
    snprintf(choice->detail, sizeof choice->detail, "no provider fits (%s%s%s%s%s%s)", choice->library->strerror(-err),
             provider || domain ? "; asked for " : "", provider ? provider : "", provider && domain ? " on " : "",
             domain ? domain : "", job->npes > 1 ? "" : "");
    return -ENODEV;
}

static bool is_sockets(const char *provider)
{
    static const char *const names[] = {"tcp", "net", "sockets", "udp", "shm"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strncmp(provider, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static void judge(struct choice *choice)
{
    const struct fi_info *info  = choice->info;
    uint64_t              order = info->tx_attr->msg_order & info->rx_attr->msg_order;
    choice->ordered             = (order & ORDER) == ORDER && info->ep_attr->max_order_waw_size >= info->ep_attr->max_msg_size &&
                      !(choice->forced & FORCE_UNORDERED);
    /*
     * A device writes an aligned word in one piece. Software may not: it receives by recv() wherever the bytes go, and the stream may end
     * for now in the middle of a word. Manual progress is the sign of software, and sockets claim what they like.
     */
    choice->cpu_words = (info->domain_attr->data_progress != FI_PROGRESS_AUTO || is_sockets(info->fabric_attr->prov_name)) &&
                        !(choice->forced & FORCE_DEVICE);
    char address[INET6_ADDRSTRLEN] = "";
    if (info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6)
        shmemt_libfabric_provider_address(info->src_addr, info->src_addrlen, address, sizeof address);
    snprintf(choice->detail, sizeof choice->detail, "%s, %s%s%s", info->fabric_attr->prov_name,
             info->domain_attr->name ? info->domain_attr->name : "?", *address ? " " : "", address);
}

int shmemt_libfabric_provider_choose(const struct shmemt_job *job, struct choice *choice_out)
{
    const char   *why    = NULL;
    struct choice choice = {.library = shmemt_libfabric_library(&why), .forced = forced_modes()};
    int           err    = 0;
    if (!choice.library) {
        snprintf(choice.detail, sizeof choice.detail, "%s", why);
        err = -ENODEV;
    } else {
        err = pick(job, &choice);
    }
    if (!err) judge(&choice);
    *choice_out = choice;
    return err;
}

void shmemt_libfabric_provider_traits(const struct shmemt_job *job, const struct choice *choice, struct shmemt_traits *traits_out)
{
    size_t bytes_max = choice->info->ep_attr->max_msg_size;
    bool   native    = shmemt_libfabric_native_usable(job, choice);
    *traits_out      = (struct shmemt_traits){
             .caps           = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO | (job->agent == SHMEMT_AGENT_CPU ? SHMEMT_CAP_AMO_CPU : 0),
             .copy_bytes_max = COPY_BYTES_MAX,
             .bytes_max      = bytes_max < (size_t)1 << 30 ? bytes_max : (size_t)1 << 30,
             .pieces_max     = PIECES_MAX,
             .agents         = 1u << SHMEMT_AGENT_CPU | (native ? 1u << SHMEMT_AGENT_NIC : 0),
    };
    /*
     * CAP_PROGRESS is never promised: what the CPU applies (atomics, signals, small puts) needs somebody who does it. With the device as
     * agent a provider with FI_PROGRESS_AUTO needs nobody.
     */
    if (job->agent == SHMEMT_AGENT_NIC && !choice->cpu_words && choice->info->domain_attr->data_progress == FI_PROGRESS_AUTO)
        traits_out->caps |= SHMEMT_CAP_PROGRESS;
    snprintf(traits_out->detail, sizeof traits_out->detail, "%s", choice->detail);
}
