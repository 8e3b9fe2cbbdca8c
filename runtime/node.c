/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of the node, and the passing of their descriptors.
 *
 * A datagram socket with an abstract name needs no file and no connection: it vanishes with the process, also after kill -9.
 * The name holds a random number of the PE, the message the job's secret; the kernel adds the sender's user id. Both are checked: another
 * user's process cannot slip in a file. Pids are not used: they differ between containers.
 */
#include "runtime/node.h"

#include "runtime/alloc.h"
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/report.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ADDRESS_SPAN_MAX ((size_t)1 << 45) /* a quarter of what 47 bits of addresses hold */
enum { OVERFLOW_UID = 65534 };             /* what a user id looks like that has no number in this user namespace */

static int listener = -1;

struct descriptor_message {
    uint64_t secret;
    uint64_t node_bytes, heap_bytes;
};

socklen_t shmemi_node_socket_name(struct sockaddr_un *name_out, uint64_t nonce, int pe, const char *suffix)
{
    memset(name_out, 0, sizeof *name_out);
    name_out->sun_family = AF_UNIX; /* sun_path[0] == 0: abstract */
    int length = snprintf(name_out->sun_path + 1, sizeof name_out->sun_path - 1, "postern-%016llx-%d%s", (unsigned long long)nonce,
                          pe, suffix);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static SHMEMI_COLD int socket_failed(int err)
{
    shmemi_error("could not make a Unix socket: %s" WHY "PEs of one machine pass their memory over such sockets" FIX
                 "raise `ulimit -n`, or allow Unix sockets in this container",
                 strerror(err));
    return -err;
}

int shmemi_node_listen(void)
{
    struct sockaddr_un name;
    int                yes = 1;
    listener               = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0) {
        socklen_t bytes = shmemi_node_socket_name(&name, shmemi_state.nonce, shmemi_state.my_pe, "");
        if (bind(listener, (struct sockaddr *)&name, bytes) == 0) return 0;
    }
    int err = errno;
    if (listener >= 0) close(listener);
    listener = -1;
    return socket_failed(err);
}

/* ---- who is here ---- */

/* One item of POSTERN_NODE: a name, perhaps with :count. Its bytes and the count; 0 where it is neither. */
static size_t read_label(const char *text, long *count_out)
{
    size_t      length = strcspn(text, ",");
    const char *colon  = memchr(text, ':', length);
    size_t      name   = colon ? (size_t)(colon - text) : length;
    char       *end    = NULL;
    *count_out         = 1;
    if (name == 0) return 0;
    if (!colon) return length;
    if (colon[1] < '1' || colon[1] > '9') return 0;
    *count_out = strtol(colon + 1, &end, 10);
    return end == text + length && *count_out <= INT_MAX ? length : 0;
}

int shmemi_node_label(const char *text, int pe, uint64_t *label_out)
{
    long total = 0, count;
    *label_out = 0;
    if (!text) return 0;
    for (const char *at = text;; at++) {
        size_t length = read_label(at, &count);
        if (length == 0) {
            shmemi_error("POSTERN_NODE is \"%s\"" WHY
                         "it is a list of node names with commas between, each perhaps with a number of PEs" FIX
                         "write for instance POSTERN_NODE=a,b or POSTERN_NODE=a:2,b:1",
                         text);
            return -EINVAL;
        }
        total += count;
        at += length;
        if (!*at) break;
    }
    long place = pe % total;
    for (const char *at = text;; at++) {
        size_t length = read_label(at, &count);
        if (place < count) {
            *label_out = shmemi_hash(0, at, strcspn(at, ":,"));
            return 0;
        }
        place -= count;
        at += length;
    }
}

/*
 * Abstract names belong to a network namespace: where the name is known, a message with descriptors arrives too. Host names are not asked,
 * since containers and clones of machines share them.
 */
static bool can_send(int probe, const struct shmemi_card *card, int pe)
{
    const struct shmemi_card *mine = &shmemi_state.cards[shmemi_state.my_pe];
    struct sockaddr_un        name;
    if (pe == shmemi_state.my_pe) return true;
    if (card->boot_id != mine->boot_id || card->label != mine->label) return false;
    socklen_t bytes = shmemi_node_socket_name(&name, card->nonce, pe, "");
    return connect(probe, (struct sockaddr *)&name, bytes) == 0;
}

/* ---- layout ---- */

/*
 * In the address space each heap begins at a multiple of the power of two that holds it, the same on all PEs, so that an aligned offset is an
 * aligned address (shmem_align). Where address space is limited or would run out, or the sizes of files are limited: at a page. In the file they lie
 * alike, with holes that take no memory: so all are one mapping, where each PE would have one for each other.
 */
static void plan_heaps(const struct shmemi_card *cards, size_t heap_bytes, size_t unit)
{
    struct shmemi_state *state     = &shmemi_state;
    size_t               alignment = unit, count = (size_t)state->npes, span;
    state->node.heap_file_bytes = shmemi_round_up(heap_bytes, unit);
    while (alignment < state->node.heap_file_bytes && alignment < ADDRESS_SPAN_MAX) alignment *= 2;
    bool roomy = shmemi_mul_size(alignment, count + 1, &span) && span <= ADDRESS_SPAN_MAX;
    for (int pe = 0; pe < state->npes; pe++)
        if (cards[pe].space_limited) roomy = false;
    state->node.heap_alignment = roomy ? alignment : unit;
    state->heap_stride         = shmemi_round_up(state->node.heap_file_bytes, state->node.heap_alignment);
}

int shmemi_node_plan(const struct shmemi_card *cards, size_t heap_bytes)
{
    struct shmemi_state *state = &shmemi_state;
    size_t               page = (size_t)sysconf(_SC_PAGESIZE), data_bytes = 0, heap_unit = page;
    state->node.pes      = calloc((size_t)state->npes, sizeof *state->node.pes);
    state->node.local_of = calloc((size_t)state->npes, sizeof *state->node.local_of);
    if (!state->node.pes || !state->node.local_of) {
        shmemi_error("could not get memory for start-up" WHY "malloc gave none" FIX "raise `ulimit -v`, or start fewer PEs");
        return -ENOMEM;
    }
    int probe = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return socket_failed(errno);

    state->node.count = 0;
    for (int pe = 0; pe < state->npes; pe++) {
        bool here                = can_send(probe, &cards[pe], pe);
        state->node.local_of[pe] = here ? state->node.count : -1;
        if (!here) continue;
        if (pe == state->my_pe) state->node.me = state->node.count;
        state->node.pes[state->node.count++] = pe;
        if (cards[pe].heap_unit > heap_unit)
            heap_unit = (size_t)cards[pe].heap_unit; /* PEs may see different pages: the largest fits all */
        if (cards[pe].data_bytes > data_bytes) data_bytes = cards[pe].data_bytes;
    }
    close(probe);
    size_t count           = (size_t)state->node.count;
    state->ctrl_stride     = shmemi_round_up(state->ctrl_bytes, page);
    state->data_stride     = shmemi_round_up(data_bytes, page);
    state->node.page_bytes = heap_unit;
    plan_heaps(cards, heap_bytes, heap_unit);
    state->node.ctrl_bytes = count * state->ctrl_stride;
    state->node.data_bytes = count * state->data_stride;
    state->node.node_bytes = state->node.ctrl_bytes + state->node.data_bytes;
    /* A block of the size asked for must fit: the allocator cuts in units. */
    state->all_heap_bytes = shmemi_round_up(heap_bytes, SHMEMI_ALLOC_UNIT);
    /* Transports are asked before the memory is mapped whether they can have so much. */
    state->job.node_map[SHMEMT_SEGMENT_CTRL].bytes = state->ctrl_bytes;
    state->job.node_map[SHMEMT_SEGMENT_DATA].bytes = state->data_stride;
    state->job.node_map[SHMEMT_SEGMENT_HEAP].bytes = state->all_heap_bytes;
    return 0;
}

/* ---- the first PE: make and send ---- */

static int create_node_file(size_t bytes)
{
    int fd = memfd_create("postern-node", MFD_CLOEXEC | 8u /* MFD_NOEXEC_SEAL, Linux 6.3 */);
    if (fd < 0 && errno == EINVAL) fd = memfd_create("postern-node", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0) return fd;
    int err = errno;
    shmemi_error("could not make the shared file of this node (%zu KiB): %s" WHY "memfd_create or ftruncate was refused" FIX
                 "raise `ulimit -n` or `ulimit -f`, or allow memfd_create in this container",
                 bytes >> 10, strerror(err));
    if (fd >= 0) close(fd);
    return -err;
}

/* The kernel counts descriptors under way per user, and allows as many as this process may open. */
static bool raise_descriptor_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return false;
    limit.rlim_cur = limit.rlim_max;
    return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

/* Pages were looked for by what the heaps hold; the file has holes between them as well. */
static int widen_heap_file(void)
{
    const struct shmemi_state *state = &shmemi_state;
    size_t                     bytes = (size_t)state->node.count * state->heap_stride;
    if (state->heap_stride == state->node.heap_file_bytes || ftruncate(state->node.heap_fd, (off_t)bytes) == 0) return 0;
    int err = errno;
    shmemi_error("could not make the symmetric heaps' file %zu MiB long: %s" WHY "ftruncate was refused" FIX
                 "set SHMEM_SYMMETRIC_SIZE to a power of two, which needs no holes in it",
                 bytes >> 20, strerror(err));
    return -err;
}

static int send_descriptors(int pe)
{
    struct shmemi_state      *state = &shmemi_state;
    struct sockaddr_un        name;
    struct descriptor_message text = {
        .secret     = state->job.secret,
        .node_bytes = state->node.node_bytes,
        .heap_bytes = (uint64_t)state->node.count * state->heap_stride,
    };
    union {
        struct cmsghdr header;
        char           room[CMSG_SPACE(2 * sizeof(int))];
    } control             = {.header = {0}};
    int           fds[2]  = {state->node.node_fd, state->node.heap_fd};
    size_t        count   = fds[1] >= 0 ? 2 : 1;
    struct iovec  part    = {.iov_base = &text, .iov_len = sizeof text};
    struct msghdr message = {
        .msg_name       = &name,
        .msg_namelen    = shmemi_node_socket_name(&name, state->cards[pe].nonce, pe, ""),
        .msg_iov        = &part,
        .msg_iovlen     = 1,
        .msg_control    = &control,
        .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type  = SCM_RIGHTS;
    control.header.cmsg_len   = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(&control.header), fds, count * sizeof(int));
    if (sendmsg(listener, &message, MSG_NOSIGNAL) == (ssize_t)sizeof text) return 0;
    if (errno != ETOOMANYREFS || !raise_descriptor_limit()) return -errno;
    return sendmsg(listener, &message, MSG_NOSIGNAL) == (ssize_t)sizeof text ? 0 : -errno;
}

/* Growing a file past the limit is not refused, it is a signal. Every PE checks, because each writes its static data into the file. */
static int check_file_limit(void)
{
    const struct shmemi_state *state = &shmemi_state;
    size_t                     bytes = state->node.node_bytes, heaps = (size_t)state->node.count * state->heap_stride;
    struct rlimit              limit;
    if (heaps > bytes) bytes = heaps;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes) return 0;
    shmemi_error("cannot make the shared files of this node (%zu MiB)" WHY
                 "the limit of file sizes is %llu KiB, and it holds for files in memory too" FIX
                 "raise `ulimit -f`, or lower SHMEM_SYMMETRIC_SIZE",
                 bytes >> 20, (unsigned long long)limit.rlim_cur >> 10);
    return -EFBIG;
}

/* A PE that took no descriptors. Most often it has died, which its launcher says better: so it is told only when the exchange after it is over. */
static struct {
    int pe, err;
} unreached;

int shmemi_node_create(int pages_mode, struct shmemi_node_card *card)
{
    struct shmemi_state *state   = &shmemi_state;
    int                  limited = check_file_limit();
    if (limited) return limited;
    if (state->node.me != 0) return 0;

    int fd = create_node_file(state->node.node_bytes);
    if (fd < 0) return fd;
    state->node.node_fd = fd;
    if (state->all_heap_bytes > 0) {
        struct shmemi_pages pages;
        int                 err = shmemi_pages_create(pages_mode, state->node.heap_file_bytes,
                                                      (size_t)state->node.count * state->node.heap_file_bytes, &pages);
        if (err) return err;
        state->node.heap_fd = pages.fd;
        err                 = widen_heap_file();
        if (err) return err;
        card->page_bytes = (uint32_t)pages.page_bytes;
        memcpy(card->page_kind, pages.kind, sizeof card->page_kind);
        memcpy(card->page_detail, pages.detail, sizeof card->page_detail);
    }
    for (int i = 1; i < state->node.count; i++) {
        int err = send_descriptors(state->node.pes[i]);
        if (!err) continue;
        unreached.pe  = state->node.pes[i];
        unreached.err = err;
        return err;
    }
    return 0;
}

void shmemi_node_say_unreached(void)
{
    if (unreached.err)
        shmemi_error("could not pass shared memory to PE %d: %s" WHY
                     "its Unix socket could be reached before, but takes no message with descriptors" FIX
                     "raise `ulimit -n` on both, or look at what this container forbids",
                     unreached.pe, strerror(-unreached.err));
    unreached.err = 0;
}

/* ---- the others: receive ---- */

bool shmemi_node_sender_allowed(const struct ucred *sender)
{
    return sender->uid == geteuid() || sender->uid == OVERFLOW_UID || geteuid() == OVERFLOW_UID || sender->uid == 0;
}

/* One datagram: true if it is the one. Descriptors of others are closed. */
static bool accept_message(struct msghdr *message, const struct descriptor_message *text, ssize_t bytes)
{
    struct shmemi_state *state        = &shmemi_state;
    int                  fds[2]       = {-1, -1};
    bool                 sender_known = false;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET) continue;
        if (part->cmsg_type == SCM_RIGHTS) {
            size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            memcpy(fds, CMSG_DATA(part), (count > 2 ? 2 : count) * sizeof(int));
        } else if (part->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(part), sizeof sender);
            sender_known = shmemi_node_sender_allowed(&sender);
        }
    }
    bool right = bytes == (ssize_t)sizeof *text && sender_known && text->secret == state->job.secret && fds[0] >= 0 &&
                 text->node_bytes == state->node.node_bytes && text->heap_bytes == (uint64_t)state->node.count * state->heap_stride;
    for (int i = 0; i < 2 && !right; i++)
        if (fds[i] >= 0) close(fds[i]);
    if (!right) return false;
    state->node.node_fd = fds[0];
    state->node.heap_fd = fds[1];
    return true;
}

static int receive_descriptors(void)
{
    for (;;) {
        struct descriptor_message text;
        union {
            struct cmsghdr header;
            char           room[CMSG_SPACE(2 * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct iovec  part    = {.iov_base = &text, .iov_len = sizeof text};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t       bytes   = recvmsg(listener, &message, MSG_CMSG_CLOEXEC);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0) break;
        if (accept_message(&message, &text, bytes)) return 0;
    }
    shmemi_error("could not get the shared memory of PE %d, the first on this machine" WHY
                 "its message has not come; a full descriptor table or a strict container can be the cause" FIX
                 "raise `ulimit -n`; start all PEs of this machine in one network namespace",
                 shmemi_state.node.pes[0]);
    return -ECONNREFUSED;
}

/* ---- mapping ---- */

static SHMEMI_COLD int map_failed(const char *what, size_t bytes, int err)
{
    shmemi_error("could not map %s (%zu MiB): %s" WHY
                 "a limit on address space or mappings (ulimit -v, vm.max_map_count) is too low" FIX
                 "raise the limit, lower SHMEM_SYMMETRIC_SIZE, or start fewer PEs",
                 what, bytes >> 20, strerror(err));
    return -err;
}

/* Peers' heaps do not belong into this PE's core file. */
static int map_heap_file(char *start, size_t count)
{
    const struct shmemi_state *state  = &shmemi_state;
    size_t                     stride = state->heap_stride, before = (size_t)state->node.me, behind = count - before - 1;
    if (mmap(start, count * stride, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, state->node.heap_fd, 0) ==
        MAP_FAILED)
        return map_failed("the symmetric heaps", count * stride, errno);
    if (before > 0) madvise(start, before * stride, MADV_DONTDUMP);
    if (behind > 0) madvise(start + (before + 1) * stride, behind * stride, MADV_DONTDUMP);
    return 0;
}

/* Address space for all heaps at a multiple of their alignment; then the file over it. */
static int map_heaps(void)
{
    struct shmemi_state *state    = &shmemi_state;
    size_t               count    = (size_t)state->node.count;
    size_t               reserved = count * state->heap_stride + state->node.heap_alignment;
    char                *room     = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return map_failed("the symmetric heaps", reserved, errno);
    state->node.heap_reserved       = room;
    state->node.heap_reserved_bytes = reserved;

    char *start = (char *)shmemi_round_up((uintptr_t)room, state->node.heap_alignment);
    int   err   = map_heap_file(start, count);
    if (err) return err;
    state->heap_map      = start;
    state->all_heap_base = (uintptr_t)(start + (size_t)state->node.me * state->heap_stride);
    return 0;
}

static void describe_job_memory(void)
{
    struct shmemi_state *state                      = &shmemi_state;
    state->job.node_map[SHMEMT_SEGMENT_CTRL].base   = state->ctrl_map;
    state->job.node_map[SHMEMT_SEGMENT_CTRL].stride = state->ctrl_stride;
    if (state->data_stride > 0) {
        state->job.node_map[SHMEMT_SEGMENT_DATA].base   = state->data_map;
        state->job.node_map[SHMEMT_SEGMENT_DATA].stride = state->data_stride;
    }
    if (state->all_heap_bytes > 0) {
        state->job.node_map[SHMEMT_SEGMENT_HEAP].base   = state->heap_map;
        state->job.node_map[SHMEMT_SEGMENT_HEAP].stride = state->heap_stride;
    }
}

int shmemi_node_map(void)
{
    struct shmemi_state *state = &shmemi_state;
    if (state->node.me != 0) {
        int err = receive_descriptors();
        if (err) return err;
    }
    char *base = mmap(NULL, state->node.node_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, state->node.node_fd, 0);
    if (base == MAP_FAILED) return map_failed("the control pages and static data of this node", state->node.node_bytes, errno);
    state->node.node_base = base;
    state->ctrl_map       = base;
    state->data_map       = base + state->node.ctrl_bytes;
    state->ctrl           = shmemi_state_ctrl((unsigned)state->node.me);
    if (state->node.data_bytes > 0) madvise(state->data_map, state->node.data_bytes, MADV_DONTDUMP);

    if (state->all_heap_bytes > 0) {
        int err = map_heaps();
        if (err) return err;
    }
    if (state->data.bytes > 0) {
        off_t offset = (off_t)(state->node.ctrl_bytes + (size_t)state->node.me * state->data_stride);
        int   err    = shmemi_data_install(&state->data, state->node.node_fd, offset);
        if (err) return err;
        state->own_data_base  = state->data.base;
        state->own_data_bytes = state->data.bytes;
    }
    describe_job_memory();
    return 0;
}

void shmemi_node_close(void)
{
    struct shmemi_state *state = &shmemi_state;
    shmemi_data_remove();
    if (state->node.heap_reserved) munmap(state->node.heap_reserved, state->node.heap_reserved_bytes);
    if (state->node.node_base) munmap(state->node.node_base, state->node.node_bytes);
    if (state->node.heap_fd >= 0) close(state->node.heap_fd);
    if (state->node.node_fd >= 0) close(state->node.node_fd);
    if (listener >= 0) close(listener);
    listener = -1;
    free(state->node.pes);
    free(state->node.local_of);
    state->node = (struct shmemi_node_layout){.node_fd = -1, .heap_fd = -1};
}
