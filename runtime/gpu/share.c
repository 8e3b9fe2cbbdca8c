/* SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors of the GPU heaps' parts go from each PE to each other one of its node, over datagram sockets as in node.c. They have a socket of
 * their own, because here all send to all, and a queue of datagrams holds as few as ten: so each sends and takes by turns, until it has given its
 * part to all and has had a word of each. A PE without a part says so.
 */
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/gpu/inside.h"
#include "runtime/init.h"
#include "runtime/node.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { STEP_MS = 10 };

static int listener = -1;

struct part_message {
    uint64_t secret;
    uint64_t bytes;
    int32_t  pe;
    int32_t  has_part;
};

int shmemi_gpu_share_listen(void)
{
    struct sockaddr_un name;
    int                yes = 1;
    listener               = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener >= 0 && setsockopt(listener, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0) {
        socklen_t bytes = shmemi_node_socket_name(&name, shmemi_state.nonce, shmemi_state.my_pe, "-gpu");
        if (bind(listener, (struct sockaddr *)&name, bytes) == 0) return 0;
    }
    int err = errno;
    shmemi_gpu_share_close();
    shmemi_error("could not make a Unix socket: %s" WHY "PEs of one machine pass their GPU memory over such sockets" FIX
                 "raise `ulimit -n`, or allow Unix sockets in this container",
                 strerror(err));
    return -err;
}

void shmemi_gpu_share_close(void)
{
    if (listener >= 0) close(listener);
    listener = -1;
}

/* 0; -EAGAIN: its queue is full; another negative errno. */
static int give(int pe, int fd)
{
    struct sockaddr_un  name;
    struct part_message text = {
        .secret = shmemi_state.job.secret, .bytes = shmemi_gpu.bytes, .pe = shmemi_state.my_pe, .has_part = fd >= 0};
    union {
        struct cmsghdr header;
        char           room[CMSG_SPACE(sizeof(int))];
    } control             = {.header = {0}};
    struct iovec  piece   = {.iov_base = &text, .iov_len = sizeof text};
    struct msghdr message = {
        .msg_name    = &name,
        .msg_namelen = shmemi_node_socket_name(&name, shmemi_state.cards[pe].nonce, pe, "-gpu"),
        .msg_iov     = &piece,
        .msg_iovlen  = 1,
    };
    if (fd >= 0) {
        message.msg_control       = &control;
        message.msg_controllen    = sizeof control.room;
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type  = SCM_RIGHTS;
        control.header.cmsg_len   = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
    }
    if (sendmsg(listener, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof text) return 0;
    return errno == ETOOMANYREFS || errno == ENOBUFS ? -EAGAIN : -errno; /* descriptors under way are soon taken out */
}

struct taking {
    shmemi_gpu_share_take *take;
    bool                  *had; /* [local PEs] */
    size_t                 missing;
};

/* One datagram. Those of others are dropped, with their descriptors. */
static void accept_part(struct msghdr *message, const struct part_message *text, ssize_t bytes, struct taking *taking)
{
    int  fd           = -1;
    bool sender_known = false;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(message); item; item = CMSG_NXTHDR(message, item)) {
        if (item->cmsg_level != SOL_SOCKET) continue;
        if (item->cmsg_type == SCM_RIGHTS && item->cmsg_len >= CMSG_LEN(sizeof fd)) {
            memcpy(&fd, CMSG_DATA(item), sizeof fd);
        } else if (item->cmsg_type == SCM_CREDENTIALS) {
            struct ucred sender;
            memcpy(&sender, CMSG_DATA(item), sizeof sender);
            sender_known = shmemi_node_sender_allowed(&sender);
        }
    }
    bool right = bytes == (ssize_t)sizeof *text && sender_known && text->secret == shmemi_state.job.secret && text->pe >= 0 &&
                 text->pe < shmemi_state.npes && text->bytes == shmemi_gpu.bytes && (text->has_part != 0) == (fd >= 0);
    int local = right ? shmemi_state.node.local_of[text->pe] : -1;
    if (local < 0 || local == shmemi_state.node.me || taking->had[local]) {
        if (fd >= 0) close(fd);
        return;
    }
    taking->had[local] = true;
    taking->missing--;
    taking->take(local, fd);
}

static void take_what_is_there(struct taking *taking)
{
    for (;;) {
        struct part_message text;
        union {
            struct cmsghdr header;
            char           room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
        } control;
        struct iovec  piece   = {.iov_base = &text, .iov_len = sizeof text};
        struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        ssize_t       bytes   = recvmsg(listener, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (bytes < 0 && errno == EINTR) continue;
        if (bytes < 0) return;
        accept_part(&message, &text, bytes, taking);
    }
}

static SHMEMI_COLD int nobody_answers(const struct taking *taking)
{
    int pe = -1;
    for (int i = 0; i < shmemi_state.node.count && pe < 0; i++)
        if (i != shmemi_state.node.me && !taking->had[i]) pe = shmemi_state.node.pes[i];
    shmemi_error("could not get the GPU memory of PE %d" WHY "no word of it has come within POSTERN_INIT_TIMEOUT" FIX
                 "look at the messages of that PE; start all PEs of this machine in one network namespace",
                 pe);
    return -ETIMEDOUT;
}

static int give_and_take(int mine, struct taking *taking)
{
    int64_t limit_ns = shmemi_options.init_timeout_ns, end_ns = limit_ns < 0 ? INT64_MAX : shmemi_now_ns() + limit_ns;
    int     next = 1, count = shmemi_state.node.count;
    while (next < count || taking->missing > 0) {
        int err = next < count ? give(shmemi_state.node.pes[(shmemi_state.node.me + next) % count], mine) : -EAGAIN;
        if (err != -EAGAIN) next++; /* one that cannot be reached has died, which its launcher says */
        if (err == 0 && taking->missing == 0) continue;
        struct pollfd readable = {.fd = listener, .events = POLLIN};
        if (err == -EAGAIN) poll(&readable, 1, STEP_MS);
        take_what_is_there(taking);
        if (shmemi_now_ns() > end_ns) return nobody_answers(taking);
    }
    return 0;
}

int shmemi_gpu_share_all(int mine, shmemi_gpu_share_take *take)
{
    SHMEMI_AUTO_FREE bool *had    = calloc((size_t)shmemi_state.node.count, sizeof *had);
    struct taking          taking = {.take = take, .had = had, .missing = (size_t)shmemi_state.node.count - 1};
    int                    err    = had ? give_and_take(mine, &taking) : -ENOMEM;
    shmemi_gpu_share_close();
    return err;
}
