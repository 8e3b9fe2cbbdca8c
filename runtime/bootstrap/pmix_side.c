/* SPDX-License-Identifier: Apache-2.0
 *
 * Datagrams between the PEs of one machine.
 */
#include "runtime/bootstrap/pmix_side.h"

#include "runtime/base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { NOTE_MAGIC = 0x504e4f54, FULL_TRIES = 50, FULL_NAP_NS = 1000000 };

static int      own_fd = -1;
static uint64_t job_hash;

static socklen_t address_of(int pe, struct sockaddr_un *address_out)
{
    *address_out = (struct sockaddr_un){.sun_family = AF_UNIX};
    int bytes =
        snprintf(address_out->sun_path + 1, sizeof address_out->sun_path - 1, "postern-pmix-%016" PRIx64 "-%d", job_hash, pe);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)bytes);
}

int shmemi_pmix_side_open(const char *job, int pe)
{
    struct sockaddr_un address;
    uid_t              user = geteuid();
    job_hash                = shmemi_hash(shmemi_hash(0, job, strlen(job)), &user, sizeof user);
    int fd                  = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) return -errno;
    socklen_t bytes = address_of(pe, &address);
    if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){1}, sizeof(int)) != 0 || bind(fd, (struct sockaddr *)&address, bytes) != 0) {
        int err = -errno;
        close(fd);
        return err;
    }
    own_fd = fd;
    return 0;
}

void shmemi_pmix_side_close(void)
{
    if (own_fd >= 0) close(own_fd);
    own_fd = -1;
}

int shmemi_pmix_side_fd(void)
{
    return own_fd;
}

/* From a socket of its own where ours is closed: who asks need not be there himself. */
static int send_once(int fd, int pe, const struct shmemi_pmix_side_note *note)
{
    struct sockaddr_un address;
    socklen_t          bytes = address_of(pe, &address);
    ssize_t            sent;
    do sent = sendto(fd, note, sizeof *note, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, bytes);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof *note ? 0 : -errno;
}

static int sending_fd(void)
{
    return own_fd >= 0 ? own_fd : socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

bool shmemi_pmix_side_send(int pe, const struct shmemi_pmix_side_note *note)
{
    struct shmemi_pmix_side_note copy = *note;
    int                          fd = sending_fd(), err = -EBADF;
    copy.magic = NOTE_MAGIC;
    for (int tries = 0; fd >= 0 && tries < FULL_TRIES; tries++) {
        err = send_once(fd, pe, &copy);
        if (err != -EAGAIN) break;
        nanosleep(&(struct timespec){.tv_nsec = FULL_NAP_NS}, NULL);
    }
    if (fd >= 0 && fd != own_fd) close(fd);
    return err == 0;
}

bool shmemi_pmix_side_is_there(int pe)
{
    struct shmemi_pmix_side_note probe = {.magic = NOTE_MAGIC, .kind = SHMEMI_PMIX_SIDE_PROBE};
    int                          fd = sending_fd(), err = fd < 0 ? -EBADF : send_once(fd, pe, &probe);
    if (fd >= 0 && fd != own_fd) close(fd);
    return err == 0 || err == -EAGAIN;
}

/* One datagram; *note_out is good where 0 is returned. -EBADMSG: not for us. */
static int receive_once(struct shmemi_pmix_side_note *note_out)
{
    union {
        char           room[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec  part    = {note_out, sizeof *note_out};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    ssize_t       got     = recvmsg(own_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got < 0) return errno == EINTR ? -EBADMSG : -errno;

    bool is_ours = false;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        struct ucred sender;
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_CREDENTIALS) continue;
        memcpy(&sender, CMSG_DATA(head), sizeof sender);
        is_ours = sender.uid == geteuid();
    }
    if (!is_ours || got != (ssize_t)sizeof *note_out || note_out->magic != NOTE_MAGIC) return -EBADMSG;
    note_out->text[sizeof note_out->text - 1] = '\0';
    return 0;
}

bool shmemi_pmix_side_receive(struct shmemi_pmix_side_note *note_out)
{
    struct shmemi_pmix_side_note note;
    while (own_fd >= 0) {
        int err = receive_once(&note);
        if (err == -EBADMSG || (err == 0 && note.kind == SHMEMI_PMIX_SIDE_PROBE)) continue;
        if (err) return false;
        *note_out = note;
        return true;
    }
    return false;
}
