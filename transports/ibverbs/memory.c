/* SPDX-License-Identifier: Apache-2.0
 *
 * Registration. Segments are found without a lock: each is a record that never changes once it is published, and records live until close.
 * Private memory is a list of at most PRIVATE_MAX registrations, most recently used first, under one lock; the calls into the kernel are made outside
 * of it.
 *
 * When may a second operation use a registration of private memory that a first one has made? A program may unmap and map again what no
 * operation uses. While every operation that ever used the registration is still under way, no page of it can have changed: the first one
 * covers it whole. So it is *fresh* until one of them ends, and after that the next operation makes its own. A
 * registration that is *kept* is exempt: pages change with the program's (on-demand paging), or the user has promised that they never do.
 */
#include "transports/ibverbs/memory.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PRIVATE_MAX = 256 };

/* How much stays registered with on-demand paging, where nothing else is said: it pins nothing, but fills the device's tables. */
#define KEPT_BYTES_ON_DEMAND ((size_t)1 << 30)

/* A segment of this PE. */
struct segment {
    char           *base, *alias; /* alias: the same bytes seen at another address, or NULL */
    size_t          bytes;
    struct ibv_mr  *mr;
    uint32_t        lkey;
    struct segment *next_retired;
};

/* A registration of private memory. */
struct ib_hold {
    struct ib_hold *prev, *next; /* most recently used first; or the next free one */
    char           *base;
    size_t          bytes;
    struct ibv_mr  *mr;
    unsigned        users;
    bool            writable, kept, fresh;
};

struct ib_memory {
    struct ibv_pd *pd;
    uint64_t       secret;
    int            my_pe;
    bool           atomics, odp;
    uint64_t       largest; /* one registration of the device */
    unsigned       relaxed; /* IBV_ACCESS_RELAXED_ORDERING or 0 */
    size_t         page;

    struct segment *_Atomic segments[SHMEMT_SEGMENTS_MAX];
    struct segment         *retired; /* unexported: another thread may be looking at it */

    pthread_mutex_t         lock; /* guards all that follows */
    struct ib_hold          ends; /* of the list: next is the most recent, prev the oldest */
    struct ib_hold         *free_holds;
    size_t                  bound;      /* bytes of private memory; constant: the limit on locked memory */
    size_t                  kept_bound; /* of these, without a user; constant     */
    size_t                  idle_bytes;
    struct ib_memory_counts counts;
    char                    description[80];
    struct ib_hold          holds[PRIVATE_MAX];
};

/* ---- the limit on locked memory ---- */

/* The kernel asks for the capability in the first user namespace. Root of another one has it only in name. */
static bool may_lock_any(void)
{
    char               line[128];
    unsigned long long capabilities = 0, first = 1, outside = 1, count = 0;
    FILE              *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "CapEff: %llx", &capabilities) == 1) break;
    if (file) fclose(file);
    enum { CAP_IPC_LOCK_BIT = 14 };
    if (!(capabilities >> CAP_IPC_LOCK_BIT & 1)) return false;
    file = fopen("/proc/self/uid_map", "re");
    if (!file) return true; /* a kernel without user namespaces */
    bool read = fgets(line, sizeof line, file) && sscanf(line, "%llu %llu %llu", &first, &outside, &count) == 3;
    fclose(file);
    return read && first == 0 && outside == 0 && count == UINT32_MAX;
}

static bool in_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
}

static unsigned long long mib_up(unsigned long long bytes)
{
    return (bytes + (1 << 20) - 1) >> 20;
}

int shmemt_ibverbs_memory_check_limit(const struct ib_port *port, size_t bytes, char *why, size_t why_bytes)
{
    struct rlimit limit;
    if (!port->place.in_kernel) return 0; /* nothing is pinned */
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes) return 0;
    if (may_lock_any()) return 0;
    rlim_t soft    = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_max != soft && setrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_max >= bytes) return 0;
    snprintf(why, why_bytes, "memlock limit %llu MiB, needs %llu: %s", (unsigned long long)limit.rlim_max >> 20, mib_up(bytes),
             in_container() ? "start the container with --ulimit memlock=-1"
                            : "sudo prlimit --memlock=unlimited --pid $$, then start again");
    return -ENOMEM;
}

size_t shmemt_ibverbs_memory_need(const struct shmemt_job *job)
{
    size_t bytes = (size_t)4 << 20; /* queues and rings */
    for (int segment = 0; segment < SHMEMT_SEGMENTS_MAX; segment++)
        if (segment != SHMEMT_SEGMENT_GPU) bytes += job->node_map[segment].bytes;
    return bytes;
}

/* ---- opening ---- */

/* A size with k, m, g or t behind it, as the options have it; none or nothing: 0. */
static size_t size_setting(const char *name)
{
    static const char letters[] = "kmgt";
    const char       *text      = getenv(name);
    char             *end       = NULL;
    if (!text) return 0;
    double      number = strtod(text, &end);
    const char *letter = *end ? strchr(letters, *end | 0x20) : NULL;
    if (end == text || number <= 0) return 0;
    for (int i = letter ? (int)(letter - letters) : -1; i >= 0; i--) number *= 1024;
    return number < (double)(SIZE_MAX / 2) ? (size_t)number : SIZE_MAX / 2;
}

static bool flag_setting(const char *name, bool unset)
{
    const char *text = getenv(name);
    if (!text || !*text) return unset;
    return strchr("1yYtT", *text) != NULL || strcasecmp(text, "on") == 0;
}

/* What the limit on locked memory leaves for private memory, at most. */
static size_t lockable(size_t segments_bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || may_lock_any()) return SIZE_MAX;
    return limit.rlim_cur > segments_bytes ? (size_t)limit.rlim_cur - segments_bytes : 0;
}

static void read_settings(struct ib_memory *memory, const struct ib_port *port)
{
    memory->odp        = port->odp && flag_setting("POSTERN_IB_ODP", false);
    memory->relaxed    = flag_setting("POSTERN_IB_RELAXED_ORDERING", true) ? IBV_ACCESS_RELAXED_ORDERING : 0;
    memory->kept_bound = size_setting("POSTERN_IB_REG_CACHE");
    if (memory->odp && memory->kept_bound == 0) memory->kept_bound = KEPT_BYTES_ON_DEMAND;
    if (memory->odp)
        snprintf(memory->description, sizeof memory->description, "private memory paged on demand, up to %zu MiB kept",
                 memory->kept_bound >> 20);
    else if (memory->kept_bound > 0)
        snprintf(memory->description, sizeof memory->description, "private memory kept registered, up to %zu MiB",
                 memory->kept_bound >> 20);
    else snprintf(memory->description, sizeof memory->description, "private memory registered per operation");
}

int shmemt_ibverbs_memory_open(const struct shmemt_job *job, struct ibv_pd *pd, const struct ib_port *port,
                               struct ib_memory **memory_out)
{
    struct ib_memory *memory = calloc(1, sizeof *memory);
    if (!memory) return -ENOMEM;
    memory->pd      = pd;
    memory->secret  = job->secret;
    memory->my_pe   = job->my_pe;
    memory->atomics = port->limits.atomic_cap != IBV_ATOMIC_NONE;
    memory->largest = port->limits.max_mr_size ? port->limits.max_mr_size : UINT64_MAX;
    memory->page    = (size_t)sysconf(_SC_PAGESIZE);
    read_settings(memory, port);
    memory->bound     = port->place.in_kernel && !memory->odp ? lockable(shmemt_ibverbs_memory_need(job)) : SIZE_MAX;
    memory->ends.next = memory->ends.prev = &memory->ends;
    for (int i = 0; i < PRIVATE_MAX; i++) {
        memory->holds[i].next = memory->free_holds;
        memory->free_holds    = &memory->holds[i];
    }
    pthread_mutex_init(&memory->lock, NULL);
    *memory_out = memory;
    return 0;
}

void shmemt_ibverbs_memory_close(struct ib_memory *memory)
{
    if (!memory) return;
    for (int segment = 0; segment < SHMEMT_SEGMENTS_MAX; segment++) shmemt_ibverbs_memory_unexport(memory, segment);
    for (struct ib_hold *hold = memory->ends.next; hold != &memory->ends; hold = hold->next) ibv_dereg_mr(hold->mr);
    for (struct segment *segment = memory->retired, *next; segment; segment = next) {
        next = segment->next_retired;
        free(segment);
    }
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

struct ib_memory_counts shmemt_ibverbs_memory_counts(struct ib_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    struct ib_memory_counts counts = memory->counts;
    pthread_mutex_unlock(&memory->lock);
    return counts;
}

size_t shmemt_ibverbs_memory_room(const struct ib_memory *memory)
{
    return memory->bound;
}

bool shmemt_ibverbs_memory_possible(const struct ib_memory *memory, size_t bytes)
{
    return bytes <= memory->bound;
}

const char *shmemt_ibverbs_memory_describe(struct ib_memory *memory)
{
    return memory->description;
}

static void count_pinned(struct ib_memory *memory, uint64_t more, uint64_t less)
{
    pthread_mutex_lock(&memory->lock);
    memory->counts.pinned_bytes += more - less;
    pthread_mutex_unlock(&memory->lock);
}

/* ---- segments ---- */

/* What a key of this transport holds. */
struct key {
    uint64_t secret; /* the job's: a key of another job is refused */
    uint64_t base, bytes;
    uint32_t rkey;
    int32_t  pe;
    uint16_t segment;
    uint8_t  host;
    uint8_t  version;
    uint32_t unused;
};
enum { KEY_VERSION = 1 };
static_assert(sizeof(struct key) == 40, "without holes, and small: every PE keeps those of all");
static_assert(sizeof(struct key) <= sizeof(((struct shmemt_key *)NULL)->data), "a key must fit");

static int error_of_errno(void)
{
    return errno > 0 ? -errno : -EIO;
}

/*
 * GPU memory: by its dma-buf, else by address, which the kernel can resolve where nvidia_peermem is loaded. Relaxed ordering is not
 * asked for: programs poll on words of symmetric memory, and a flag must not overtake its data on the bus.
 */
static int register_segment(const struct ib_memory *memory, const struct shmemt_region *mine, struct ibv_mr **mr_out)
{
    unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (memory->atomics) access |= IBV_ACCESS_REMOTE_ATOMIC;
    bool gpu = mine->memory == SHMEMT_MEMORY_CUDA;
    if (mine->bytes > memory->largest) return -EFBIG;
    struct ibv_mr *mr = NULL;
    errno             = 0;
    if (gpu && mine->fd >= 0)
        mr = ibv_reg_dmabuf_mr(memory->pd, mine->fd_offset, mine->bytes, (uint64_t)(uintptr_t)mine->base, mine->fd, (int)access);
    if (!mr) mr = ibv_reg_mr(memory->pd, mine->base, mine->bytes, access);
    if (!mr) return gpu ? -ENOTSUP : error_of_errno();
    *mr_out = mr;
    return 0;
}

int shmemt_ibverbs_memory_export(struct ib_memory *memory, const struct shmemt_region *mine, struct shmemt_key *key_out)
{
    if (mine->segment < 0 || mine->segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    struct key key = {
        .secret  = memory->secret,
        .base    = (uint64_t)(uintptr_t)mine->base,
        .bytes   = mine->bytes,
        .pe      = memory->my_pe,
        .segment = (uint16_t)mine->segment,
        .host    = mine->memory == SHMEMT_MEMORY_HOST,
        .version = KEY_VERSION,
    };
    shmemt_ibverbs_memory_unexport(memory, mine->segment);
    if (mine->bytes > 0) {
        struct segment *segment = calloc(1, sizeof *segment);
        if (!segment) return -ENOMEM;
        int err = register_segment(memory, mine, &segment->mr);
        if (err) {
            free(segment);
            return err;
        }
        segment->base  = mine->base;
        segment->alias = mine->alias;
        segment->bytes = mine->bytes;
        segment->lkey  = segment->mr->lkey;
        key.rkey       = segment->mr->rkey;
        count_pinned(memory, mine->bytes, 0);
        /* Pairs with the acquire in find_segment(). */
        atomic_store_explicit(&memory->segments[mine->segment], segment, memory_order_release);
    }
    *key_out = (struct shmemt_key){.bytes = sizeof key};
    memcpy(key_out->data, &key, sizeof key);
    return 0;
}

void shmemt_ibverbs_memory_unexport(struct ib_memory *memory, int segment)
{
    if (segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return;
    struct segment *gone = atomic_exchange_explicit(&memory->segments[segment], NULL, memory_order_acq_rel);
    if (!gone) return;
    ibv_dereg_mr(gone->mr);
    count_pinned(memory, 0, gone->bytes);
    gone->next_retired = memory->retired;
    memory->retired    = gone;
}

int shmemt_ibverbs_memory_import(const struct shmemt_job *job, int pe, int segment, const struct shmemt_key *key,
                                 struct ib_remote *remote_out)
{
    struct key theirs;
    if (pe < 0 || pe >= job->npes || segment < 0 || segment >= SHMEMT_SEGMENTS_MAX) return -EINVAL;
    if (key->bytes == 0) {
        *remote_out = (struct ib_remote){.known = false};
        return 0;
    }
    if (key->bytes != sizeof theirs) return -EINVAL;
    memcpy(&theirs, key->data, sizeof theirs);
    if (theirs.secret != job->secret || theirs.pe != pe || theirs.segment != segment || theirs.version != KEY_VERSION)
        return -EINVAL;
    *remote_out =
        (struct ib_remote){.base = theirs.base, .bytes = theirs.bytes, .rkey = theirs.rkey, .known = true, .host = theirs.host};
    return 0;
}

/* ---- local memory ---- */

static bool covers(const char *base, size_t bytes, const char *address, size_t wanted)
{
    return address >= base && wanted <= bytes && (size_t)(address - base) <= bytes - wanted;
}

bool shmemt_ibverbs_memory_symmetric(const struct ib_memory *memory, void *address, size_t bytes, struct ib_local *local_out)
{
    /* The heap first: most of what a program hands over lies there. */
    for (int i = 0; i < SHMEMT_SEGMENTS_MAX; i++) {
        int                   at      = (i + SHMEMT_SEGMENT_HEAP) % SHMEMT_SEGMENTS_MAX;
        const struct segment *segment = atomic_load_explicit(&memory->segments[at], memory_order_acquire);
        char                 *found   = address;
        if (!segment) continue;
        if (!covers(segment->base, segment->bytes, address, bytes)) {
            if (!segment->alias || !covers(segment->alias, segment->bytes, address, bytes)) continue;
            found = segment->base + ((char *)address - segment->alias);
        }
        /* mr may be gone by now; the segment itself stays until close */
        *local_out = (struct ib_local){.lkey = segment->lkey, .address = found};
        return true;
    }
    return false;
}

/* ---- private memory: the list ---- */

static void unlink_hold(struct ib_hold *hold)
{
    hold->prev->next = hold->next;
    hold->next->prev = hold->prev;
}

static void link_first(struct ib_memory *memory, struct ib_hold *hold)
{
    hold->next        = memory->ends.next;
    hold->prev        = &memory->ends;
    memory->ends.next = hold;
    hold->next->prev  = hold;
}

/* A registration that this operation may use, or NULL. */
static struct ib_hold *find_hold(struct ib_memory *memory, const char *address, size_t bytes, bool into)
{
    for (struct ib_hold *hold = memory->ends.next; hold != &memory->ends; hold = hold->next)
        if ((hold->kept || hold->fresh) && (hold->writable || !into) && covers(hold->base, hold->bytes, address, bytes))
            return hold;
    return NULL;
}

/* Forget one without users; what is left to do without the lock is ibv_dereg_mr(). */
static struct ibv_mr *forget(struct ib_memory *memory, struct ib_hold *hold)
{
    struct ibv_mr *mr = hold->mr;
    assert(hold->users == 0);
    unlink_hold(hold);
    memory->counts.private_bytes -= hold->bytes;
    memory->counts.pinned_bytes -= hold->bytes;
    *hold              = (struct ib_hold){.next = memory->free_holds};
    memory->free_holds = hold;
    return mr;
}

/* The one without users that has been unused for longest, or NULL. */
static struct ib_hold *oldest_idle(struct ib_memory *memory)
{
    for (struct ib_hold *hold = memory->ends.prev; hold != &memory->ends; hold = hold->prev)
        if (hold->users == 0) return hold;
    return NULL;
}

static bool fits(const struct ib_memory *memory, size_t bytes, size_t bound)
{
    return memory->counts.private_bytes <= bound && bytes <= bound - memory->counts.private_bytes;
}

/* Drop idle registrations, the oldest first, until there is room or none is left. The lock is held, and let go in between. */
static void evict_until(struct ib_memory *memory, size_t bytes, size_t bound)
{
    struct ib_hold *hold;
    while ((!memory->free_holds || !fits(memory, bytes, bound)) && (hold = oldest_idle(memory))) {
        memory->idle_bytes -= hold->bytes;
        memory->counts.evictions++;
        struct ibv_mr *mr = forget(memory, hold);
        pthread_mutex_unlock(&memory->lock);
        ibv_dereg_mr(mr);
        pthread_mutex_lock(&memory->lock);
    }
}

/* ---- private memory: registering ---- */

/* Registration goes by pages, so a neighbour in the same pages finds it too. The pages hold bytes of the operation, so they are there. */
static void whole_pages(const struct ib_memory *memory, char *address, size_t bytes, char **base_out, size_t *bytes_out)
{
    size_t before = (uintptr_t)address % memory->page, all = before + bytes;
    *base_out  = address - before;
    *bytes_out = (all + memory->page - 1) / memory->page * memory->page;
}

/*
 * Sources in read-only memory (a string in the program, a file that is mapped) can be registered for sending only. Those are not kept: a
 * page that is written later would be another one.
 */
static int register_private(const struct ib_memory *memory, struct ib_hold *hold, enum shmemt_memory kind, bool into)
{
    unsigned access = IBV_ACCESS_LOCAL_WRITE | memory->relaxed;
    bool     odp    = memory->odp && kind == SHMEMT_MEMORY_HOST;
    errno           = 0;
    if (odp) hold->mr = ibv_reg_mr(memory->pd, hold->base, hold->bytes, access | IBV_ACCESS_ON_DEMAND);
    if (!hold->mr) hold->mr = ibv_reg_mr(memory->pd, hold->base, hold->bytes, access);
    hold->writable = hold->mr != NULL;
    if (!hold->mr && !into && (errno == EFAULT || errno == EACCES || errno == EPERM))
        hold->mr = ibv_reg_mr(memory->pd, hold->base, hold->bytes, memory->relaxed);
    if (!hold->mr) return error_of_errno();
    hold->kept = hold->writable && memory->kept_bound > 0 && kind == SHMEMT_MEMORY_HOST;
    return 0;
}

/* Room for one more: a record and its bytes, taken into account. NULL: not now. The lock is held. */
static struct ib_hold *take_hold(struct ib_memory *memory, size_t bytes)
{
    evict_until(memory, bytes, memory->bound);
    struct ib_hold *hold = memory->free_holds;
    /* One operation alone may be larger than the bound: whether it fits is the kernel's to say. */
    if (!hold || (memory->counts.private_bytes > 0 && !fits(memory, bytes, memory->bound))) return NULL;
    memory->free_holds = hold->next;
    memory->counts.private_bytes += bytes;
    memory->counts.pinned_bytes += bytes;
    return hold;
}

static void give_hold_back(struct ib_memory *memory, struct ib_hold *hold, size_t bytes)
{
    memory->counts.private_bytes -= bytes;
    memory->counts.pinned_bytes -= bytes;
    *hold              = (struct ib_hold){.next = memory->free_holds};
    memory->free_holds = hold;
}

/* The kernel had no room. Where others use some, it may have later. The lock is held. */
static int no_room(struct ib_memory *memory, int err)
{
    if (err != -ENOMEM && err != -EAGAIN) return err;
    size_t in_use = memory->counts.private_bytes - memory->idle_bytes;
    evict_until(memory, 1, 0);
    return in_use > 0 ? -EAGAIN : -ENOMEM;
}

static int new_hold(struct ib_memory *memory, char *address, size_t bytes, enum shmemt_memory kind, bool into,
                    struct ib_local *local_out)
{
    char  *base;
    size_t all;
    whole_pages(memory, address, bytes, &base, &all);
    struct ib_hold *hold = take_hold(memory, all);
    if (!hold) return -EAGAIN;
    *hold = (struct ib_hold){.base = base, .bytes = all, .users = 1, .fresh = true};
    pthread_mutex_unlock(&memory->lock);
    int err = register_private(memory, hold, kind, into);
    pthread_mutex_lock(&memory->lock);
    if (err) {
        give_hold_back(memory, hold, all);
        return no_room(memory, err);
    }
    link_first(memory, hold);
    memory->counts.registrations++;
    *local_out = (struct ib_local){.lkey = hold->mr->lkey, .address = address, .hold = hold};
    return 0;
}

int shmemt_ibverbs_memory_local(struct ib_memory *memory, void *address, size_t bytes, enum shmemt_memory kind, bool into,
                                struct ib_local *local_out)
{
    uintptr_t end;
    if (shmemt_ibverbs_memory_symmetric(memory, address, bytes, local_out)) return 0;
    int err = 0;
    if (bytes == 0 || __builtin_add_overflow((uintptr_t)address, bytes, &end) || end > UINTPTR_MAX - memory->page) return -EFAULT;
    pthread_mutex_lock(&memory->lock);
    struct ib_hold *hold = find_hold(memory, address, bytes, into);
    if (hold) {
        if (hold->users++ == 0) memory->idle_bytes -= hold->bytes;
        memory->counts.hits++;
        unlink_hold(hold);
        link_first(memory, hold);
        *local_out = (struct ib_local){.lkey = hold->mr->lkey, .address = address, .hold = hold};
    } else {
        err = new_hold(memory, address, bytes, kind, into, local_out);
    }
    pthread_mutex_unlock(&memory->lock);
    return err;
}

/* What lies idle keeps within its own bound. The lock is held. */
static void trim_idle(struct ib_memory *memory)
{
    while (memory->idle_bytes > memory->kept_bound) {
        struct ib_hold *oldest = oldest_idle(memory);
        memory->idle_bytes -= oldest->bytes;
        memory->counts.evictions++;
        ibv_dereg_mr(forget(memory, oldest));
    }
}

void shmemt_ibverbs_memory_release(struct ib_memory *memory, struct ib_hold *hold)
{
    struct ibv_mr *mr = NULL;
    if (!hold) return;
    pthread_mutex_lock(&memory->lock);
    assert(hold->users > 0);
    hold->fresh = false;
    if (--hold->users == 0 && !hold->kept) {
        mr = forget(memory, hold);
    } else if (hold->users == 0) {
        memory->idle_bytes += hold->bytes;
        trim_idle(memory);
    }
    pthread_mutex_unlock(&memory->lock);
    if (mr) ibv_dereg_mr(mr);
}

/* ---- rings ---- */

int shmemt_ibverbs_memory_ring_create(struct ib_memory *memory, size_t slot_bytes, uint32_t slots, struct ib_ring *ring_out)
{
    struct ib_ring ring = {.slot_bytes = slot_bytes, .slots = slots, .free_count = slots};
    size_t         bytes;
    int            err = -ENOMEM;
    if (slots == 0 || slot_bytes == 0 || __builtin_mul_overflow(slot_bytes, (size_t)slots, &bytes)) return -EINVAL;
    ring.free_slots = malloc(slots * sizeof *ring.free_slots);
    if (!ring.free_slots) return -ENOMEM;
    ring.base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ring.base == MAP_FAILED) goto free_slots;
    ring.mr = ibv_reg_mr(memory->pd, ring.base, bytes, (unsigned)IBV_ACCESS_LOCAL_WRITE | memory->relaxed);
    if (!ring.mr) {
        err = error_of_errno();
        goto unmap;
    }
    ring.lkey = ring.mr->lkey;
    /* The last slot given is the first taken: it is still in the cache. At first that is slot 0. */
    for (uint32_t i = 0; i < slots; i++) ring.free_slots[i] = slots - 1 - i;
    count_pinned(memory, bytes, 0);
    *ring_out = ring;
    return 0;
unmap:
    munmap(ring.base, bytes);
free_slots:
    free(ring.free_slots);
    return err;
}

void shmemt_ibverbs_memory_ring_destroy(struct ib_memory *memory, struct ib_ring *ring)
{
    if (ring->mr) {
        size_t bytes = ring->slot_bytes * ring->slots;
        ibv_dereg_mr(ring->mr);
        munmap(ring->base, bytes);
        count_pinned(memory, 0, bytes);
    }
    free(ring->free_slots);
    *ring = (struct ib_ring){.base = NULL};
}
