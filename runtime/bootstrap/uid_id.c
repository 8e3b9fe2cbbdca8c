/* SPDX-License-Identifier: Apache-2.0
 *
 * Unique ids: what they hold, how they are made, and how they look as text.
 *
 * An id is a secret of 128 bits, a port, and the addresses of the machine that it was made on. Which of these another process can reach is
 * not known here, so it tries them all at once (uid_join.c). One socket listens for IPv4 and IPv6. It is open as soon as the id exists: who
 * comes early waits in its queue, and who comes when rank 0 is dead is refused by the kernel.
 */
#include "runtime/bootstrap/uid.h"

#include "runtime/base/host.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_PREFIX "postern-id:"
enum { ID_VERSION = 1, ID_LOOPBACK = 1, LISTEN_QUEUE = 4096 };

/* The bytes of an id. No padding, and no assumption on alignment. */
struct id {
    char    magic[4];
    uint8_t version;
    uint8_t flags; /* ID_LOOPBACK: listens at the loopback addresses too */
    uint8_t port[2];
    uint8_t secret[UID_SECRET_BYTES];
    uint8_t machine[8]; /* see machine_mark() */
    uint8_t check[4];   /* of all other bytes */
    uint8_t count;
    uint8_t addresses[SHMEMX_UNIQUEID_BYTES - 37]; /* each: 4 or 6, then 4 or 16 bytes */
};
static_assert(sizeof(struct id) == sizeof(shmemx_uniqueid_t) && sizeof(struct id) == SHMEMX_UNIQUEID_BYTES, "layout of an id");
static_assert(SHMEMX_UNIQUEID_TEXT_BYTES >= sizeof TEXT_PREFIX + 2 * SHMEMX_UNIQUEID_BYTES, "room for an id as text");

/* Ids that were made and that no job has begun with. */
struct pending {
    struct pending   *next;
    shmemx_uniqueid_t id;
    int               fd;
    pid_t             maker;
};
static struct pending *pending_list;
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- bytes ---- */

static void put_check(struct id *id)
{
    memset(id->check, 0, sizeof id->check);
    uint64_t sum = shmemi_hash(0, id, sizeof *id);
    memcpy(id->check, &sum, sizeof id->check);
}

static bool is_id(const shmemx_uniqueid_t *bytes)
{
    struct id id, again;
    memcpy(&id, bytes, sizeof id);
    again = id;
    put_check(&again);
    return memcmp(id.magic, "PSTN", 4) == 0 && id.version == ID_VERSION && memcmp(&id, &again, sizeof id) == 0;
}

/* Equal for processes that can use each other's loopback addresses: one kernel, one network namespace. */
static uint64_t machine_mark(void)
{
    struct stat space;
    uint64_t    words[3] = {shmemi_host_boot_id(), 0, 0};
    if (stat("/proc/self/ns/net", &space) == 0) words[1] = (uint64_t)space.st_ino, words[2] = (uint64_t)space.st_dev;
    return shmemi_hash(0, words, sizeof words);
}

/* Append an address. False: there is no room for another one. */
static bool add_address(struct id *id, const struct sockaddr *address)
{
    uint8_t *at = id->addresses, *end = id->addresses + sizeof id->addresses;
    for (unsigned i = 0; i < id->count; i++) at += *at == 4 ? 5 : 17;
    bool   v4    = address->sa_family == AF_INET;
    size_t bytes = v4 ? 4 : 16;
    if ((size_t)(end - at) < 1 + bytes || id->count >= UID_ADDRESSES_MAX - 2) return false;
    *at = v4 ? 4 : 6;
    if (v4) memcpy(at + 1, &((const struct sockaddr_in *)(const void *)address)->sin_addr, bytes);
    else memcpy(at + 1, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, bytes);
    id->count++;
    return true;
}

static union uid_address make_address(int family, const void *bytes, uint16_t port)
{
    union uid_address address = {.v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)}};
    if (family == 4) {
        address.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&address.v4.sin_addr, bytes, 4);
    } else {
        memcpy(&address.v6.sin6_addr, bytes, 16);
    }
    return address;
}

int shmemi_uid_id_parse(const shmemx_uniqueid_t *bytes, struct uid_parsed *parsed_out)
{
    struct id id;
    if (!is_id(bytes)) return -EINVAL;
    memcpy(&id, bytes, sizeof id);
    struct uid_parsed parsed = {.count = 0};
    uint16_t          port   = (uint16_t)(id.port[0] << 8 | id.port[1]);
    uint64_t          mark   = machine_mark();
    memcpy(parsed.secret, id.secret, sizeof parsed.secret);
    if ((id.flags & ID_LOOPBACK) && memcmp(id.machine, &mark, sizeof mark) == 0) {
        parsed.address[parsed.count++] = make_address(4, &(struct in_addr){.s_addr = htonl(INADDR_LOOPBACK)}, port);
        parsed.address[parsed.count++] = make_address(6, &in6addr_loopback, port);
    }
    const uint8_t *at = id.addresses, *end = id.addresses + sizeof id.addresses;
    for (unsigned i = 0; i < id.count && parsed.count < UID_ADDRESSES_MAX; i++) {
        size_t size = at < end && *at == 4 ? 4 : 16;
        if ((size_t)(end - at) < 1 + size) return -EINVAL;
        parsed.address[parsed.count++] = make_address(*at, at + 1, port);
        at += 1 + size;
    }
    *parsed_out = parsed;
    return 0;
}

const char *shmemi_uid_id_show(const union uid_address *address, char *text_out)
{
    char host[INET6_ADDRSTRLEN] = "?";
    bool v4                     = address->any.sa_family == AF_INET;
    if (v4) inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof host);
    else inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof host);
    snprintf(text_out, UID_ADDRESS_TEXT_BYTES, v4 ? "%s:%u" : "[%s]:%u", host,
             ntohs(v4 ? address->v4.sin_port : address->v6.sin6_port));
    return text_out;
}

/* ---- text ---- */

/* Hexadecimal, without the zeros at the end of the id. */
int shmemi_uid_id_to_text(const shmemx_uniqueid_t *id, char *text_out, size_t text_bytes)
{
    static const char digits[] = "0123456789abcdef";
    size_t            used = sizeof id->bytes, at = sizeof TEXT_PREFIX - 1;
    if (!is_id(id)) return -EINVAL;
    while (id->bytes[used - 1] == 0) used--;
    if (text_bytes < at + 2 * used + 1) return -ENOSPC;
    memcpy(text_out, TEXT_PREFIX, at);
    for (size_t i = 0; i < used; i++) {
        text_out[at++] = digits[id->bytes[i] >> 4];
        text_out[at++] = digits[id->bytes[i] & 15];
    }
    text_out[at] = '\0';
    return 0;
}

/* Value of a hexadecimal digit, or -1. Not isxdigit: a locale has no say. */
static int digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int shmemi_uid_id_from_text(const char *text, shmemx_uniqueid_t *id_out)
{
    static const char blanks[] = " \t\r\n";
    shmemx_uniqueid_t id       = {.bytes = {0}};
    text += strspn(text, blanks);
    if (strncmp(text, TEXT_PREFIX, sizeof TEXT_PREFIX - 1) != 0) return -EINVAL;
    text += sizeof TEXT_PREFIX - 1;
    for (size_t i = 0; i < sizeof id.bytes; i++, text += 2) {
        int high = digit(text[0]), low = high < 0 ? -1 : digit(text[1]);
        if (low < 0) break;
        id.bytes[i] = (unsigned char)(high << 4 | low);
    }
    if (text[strspn(text, blanks)] != '\0' || !is_id(&id)) return -EINVAL;
    *id_out = id;
    return 0;
}

/* ---- which addresses ---- */

static bool is_link_local(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr) >> 16 == 0xa9fe;
    return IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
}

/* Those of one interface, or of all but loopback: interfaces with a carrier first. Link-local ones mean something else on each machine. */
static void add_interfaces(struct id *id, const struct ifaddrs *list, const char *only)
{
    for (int running = 1; running >= 0; running--)
        for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
            if (!i->ifa_addr || (i->ifa_addr->sa_family != AF_INET && i->ifa_addr->sa_family != AF_INET6)) continue;
            if (only ? strcmp(i->ifa_name, only) != 0 : (i->ifa_flags & IFF_LOOPBACK) != 0) continue;
            if (!(i->ifa_flags & IFF_UP) || !(i->ifa_flags & IFF_RUNNING) != !running || is_link_local(i->ifa_addr)) continue;
            if (!add_address(id, i->ifa_addr)) return;
        }
}

/* An address as a person writes it. False: it is none. */
static bool read_address(const char *text, union uid_address *address_out)
{
    struct in_addr  v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, text, &v4) == 1) *address_out = make_address(4, &v4, 0);
    else if (inet_pton(AF_INET6, text, &v6) == 1) *address_out = make_address(6, &v6, 0);
    else return false;
    return true;
}

static int refuse_address(const char *text)
{
    shmemi_error("cannot make a unique id: POSTERN_UID_ADDRESS=%s is no address of this machine" WHY
                 "it is neither an IPv4 or IPv6 address nor an interface that is up and has one" FIX
                 "`ip address` lists what there is; unset it to listen at all of them",
                 text);
    return -EINVAL;
}

/* Fill in the id's addresses; *at_out is where to listen: one address, or all (IPv6, any). */
static int choose_addresses(struct id *id, const char *wanted, union uid_address *at_out)
{
    union uid_address at = make_address(6, &in6addr_any, 0);
    if (wanted && read_address(wanted, &at)) {
        if (is_link_local(&at.any)) return refuse_address(wanted);
        add_address(id, &at.any);
        *at_out = at;
        return 0;
    }
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0) list = NULL;
    add_interfaces(id, list, wanted);
    freeifaddrs(list);
    if (wanted && id->count == 0) return refuse_address(wanted);
    id->flags = ID_LOOPBACK;
    *at_out   = at;
    return 0;
}

/* ---- making ---- */

/* A listening socket at that address, or, for `any`, at all of IPv6 and IPv4. The socket, or a negative errno. */
static int listen_at(const union uid_address *at, bool any)
{
    int fd = socket(at->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    if (any) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int));
    socklen_t bytes = at->any.sa_family == AF_INET ? sizeof at->v4 : sizeof at->v6;
    if (bind(fd, &at->any, bytes) == 0 && listen(fd, LISTEN_QUEUE) == 0) return fd;
    int err = -errno;
    close(fd);
    return err;
}

static int open_listener(const union uid_address *at, bool any, struct id *id)
{
    int fd = listen_at(at, any);
    if (fd < 0 && any) { /* a machine without IPv6 */
        union uid_address v4 = make_address(4, &(struct in_addr){.s_addr = htonl(INADDR_ANY)}, 0);
        fd                   = listen_at(&v4, false);
    }
    union uid_address bound = {.any = {0}};
    socklen_t         bytes = sizeof bound;
    if (fd >= 0 && getsockname(fd, &bound.any, &bytes) == 0) {
        uint16_t port = ntohs(bound.any.sa_family == AF_INET ? bound.v4.sin_port : bound.v6.sin6_port);
        id->port[0]   = (uint8_t)(port >> 8);
        id->port[1]   = (uint8_t)port;
        return fd;
    }
    int  err = fd < 0 ? fd : -errno;
    char text[UID_ADDRESS_TEXT_BYTES];
    if (fd >= 0) close(fd);
    shmemi_error("could not listen for the other PEs at %s: %s" WHY "the socket of a unique id could not be opened" FIX "%s",
                 any ? "any address" : shmemi_uid_id_show(at, text), strerror(-err),
                 err == -EADDRNOTAVAIL ? "set POSTERN_UID_ADDRESS to an address of this machine; `ip address` lists them"
                                       : "raise `ulimit -n`, or allow TCP sockets in this container");
    return err;
}

static int no_memory(void)
{
    shmemi_error("could not make a unique id" WHY "there is no memory left" FIX "raise `ulimit -v`");
    return -ENOMEM;
}

int shmemi_uid_id_make(shmemx_uniqueid_t *id_out)
{
    struct id         id     = {.magic = {'P', 'S', 'T', 'N'}, .version = ID_VERSION};
    const char       *wanted = getenv("POSTERN_UID_ADDRESS");
    uint64_t          mark   = machine_mark();
    union uid_address at;
    if (wanted && *wanted == '\0') wanted = NULL;
    if (getrandom(id.secret, sizeof id.secret, 0) != sizeof id.secret) {
        int err = errno;
        shmemi_error("could not draw a random number: %s" FIX "allow getrandom in this container", strerror(err));
        return -err;
    }
    memcpy(id.machine, &mark, sizeof mark);
    int err = choose_addresses(&id, wanted, &at);
    if (err) return err;
    int fd = open_listener(&at, id.flags & ID_LOOPBACK, &id);
    if (fd < 0) return fd;
    put_check(&id);

    struct pending *entry = malloc(sizeof *entry);
    if (!entry) {
        close(fd);
        return no_memory();
    }
    entry->fd    = fd;
    entry->maker = getpid();
    memcpy(&entry->id, &id, sizeof id);
    *id_out = entry->id;
    pthread_mutex_lock(&pending_lock);
    entry->next  = pending_list;
    pending_list = entry;
    pthread_mutex_unlock(&pending_lock);
    return 0;
}

/* The entry's place in the list, or that of the list's end. Under the lock. */
static struct pending **find_pending(const shmemx_uniqueid_t *id)
{
    struct pending **at = &pending_list;
    while (*at && memcmp(&(*at)->id, id, sizeof *id) != 0) at = &(*at)->next;
    return at;
}

bool shmemi_uid_id_is_mine(const shmemx_uniqueid_t *id)
{
    pthread_mutex_lock(&pending_lock);
    struct pending *entry = *find_pending(id);
    bool            mine  = entry && entry->maker == getpid();
    pthread_mutex_unlock(&pending_lock);
    return mine;
}

int shmemi_uid_id_take(const shmemx_uniqueid_t *id)
{
    pthread_mutex_lock(&pending_lock);
    struct pending **at = find_pending(id), *entry = *at;
    if (entry) *at = entry->next;
    pthread_mutex_unlock(&pending_lock);
    int fd = entry ? entry->fd : -1;
    free(entry);
    return fd;
}
