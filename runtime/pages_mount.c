/* SPDX-License-Identifier: Apache-2.0
 *
 * A file without a name on a tmpfs with huge=always. It is mounted nowhere: fsmount(2) gives a detached mount, which lives as long as
 * a file on it is open, so nothing can be left behind and no mount point is needed. Mounting takes CAP_SYS_ADMIN. Who has it needs no
 * more than a few calls. Others need a user namespace of their own: a child process makes it and passes back the file, so our own namespaces
 * stay as they are, and the time that it may take has a limit. (A child is 1 ms of a start in a virtual machine.)
 *
 * Tests: tests/unit/pages_mount_*.
 */
#include "runtime/pages_mount.h"

#include "runtime/base/attr.h"
#include "runtime/base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    HELPER_MS_MAX     = 3000,
    HELPER_END_MS_MAX = 200,
};

/* What the child did last, and how it went. */
enum helper_step { STEP_UNSHARE, STEP_MAP_USER, STEP_FSOPEN, STEP_FSCONFIG, STEP_FSMOUNT, STEP_OPEN };
static const char *const step_names[] = {
    [STEP_UNSHARE] = "user namespace", [STEP_MAP_USER] = "user id map", [STEP_FSOPEN] = "fsopen",
    [STEP_FSCONFIG] = "huge=always",   [STEP_FSMOUNT] = "fsmount",      [STEP_OPEN] = "file",
};

struct helper_result {
    enum helper_step step;
    int              err; /* positive errno; 0: a descriptor comes with this message */
};

/* All that the child needs, made before it is started. */
struct helper_task {
    int  socket;
    char uid_map[32], gid_map[32];
};

/*
 * From here to helper_child: also run by the child of a process that may have other threads, which may hold any lock. So nothing but
 * system calls, and those by number, since tools that watch memory put functions of their own in front of the C library's.
 */
static int configured_file(int fs, struct helper_result *result)
{
    static const char *const settings[][2] = {{"huge", "always"}, {"size", "0"}, {"mode", "0700"}};
    result->step                           = STEP_FSCONFIG;
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, settings[i][0], settings[i][1], 0) != 0) return -1;
    }
    if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0) return -1;
    result->step = STEP_FSMOUNT;
    int mount    = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
    if (mount < 0) return -1;
    result->step = STEP_OPEN;
    /* Open to all by mode, as a memfd is: who has no descriptor has no way to it, and mincore asks for the right to write. */
    int file = (int)syscall(SYS_openat, mount, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    int err  = errno;
    syscall(SYS_close, mount);
    errno = err;
    return file;
}

/* The file, or -1 with errno and the step that failed. */
static int mounted_file(struct helper_result *result)
{
    result->step = STEP_FSOPEN;
    int fs       = (int)syscall(SYS_fsopen, "tmpfs", FSOPEN_CLOEXEC);
    if (fs < 0) return -1;
    int file = configured_file(fs, result);
    int err  = errno;
    syscall(SYS_close, fs);
    errno = err;
    return file;
}

static bool child_write(const char *path, const char *text)
{
    size_t length = 0;
    while (text[length]) length++;
    int  fd   = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && syscall(SYS_write, fd, text, length) == (long)length;
    if (fd >= 0) syscall(SYS_close, fd);
    return good;
}

/* Become root of a user namespace of our own. */
static bool child_user_namespace(const struct helper_task *task, struct helper_result *result)
{
    result->step = STEP_UNSHARE;
    if (syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    result->step = STEP_MAP_USER;
    child_write("/proc/self/setgroups", "deny"); /* absent before Linux 3.19 */
    return child_write("/proc/self/uid_map", task->uid_map) && child_write("/proc/self/gid_map", task->gid_map);
}

static void child_send(int socket, const struct helper_result *result, int fd)
{
    struct helper_result message = *result;
    struct iovec         part    = {.iov_base = &message, .iov_len = sizeof message};
    union {
        struct cmsghdr header;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control         = {.header = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))}};
    struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        *(int *)(void *)CMSG_DATA(&control.header) = fd;
        all.msg_control                            = control.bytes;
        all.msg_controllen                         = sizeof control.bytes;
    }
    syscall(SYS_sendmsg, socket, &all, MSG_NOSIGNAL);
}

static SHMEMI_NORETURN void helper_child(const struct helper_task *task)
{
    struct helper_result result = {.err = 0};
    syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int fd = -1;
    if (child_user_namespace(task, &result)) fd = mounted_file(&result);
    if (fd < 0) result.err = errno;
    child_send(task->socket, &result, fd);
    for (;;) syscall(SYS_exit_group, 0);
}

/* Wait until fd can be read, -ETIMEDOUT after limit_ms. */
static int wait_readable(int fd, int limit_ms)
{
    int64_t end_ns = shmemi_now_ns() + (int64_t)limit_ms * 1000000;
    for (;;) {
        int64_t       left_ms = (end_ns - shmemi_now_ns()) / 1000000;
        struct pollfd entry   = {.fd = fd, .events = POLLIN};
        int           ready   = poll(&entry, 1, left_ms > 0 ? (int)left_ms : 0);
        if (ready > 0) return 0;
        if (ready == 0 && left_ms <= 0) return -ETIMEDOUT;
        if (ready < 0 && errno != EINTR) return -errno;
    }
}

/* The child's descriptor, or a negative errno with a reason. */
static int helper_receive(int socket, char *reason, size_t reason_bytes)
{
    int err = wait_readable(socket, HELPER_MS_MAX);
    if (err) {
        snprintf(reason, reason_bytes, "mounting took over %d s", HELPER_MS_MAX / 1000);
        return err;
    }
    struct helper_result result = {.err = 0};
    struct iovec         part   = {.iov_base = &result, .iov_len = sizeof result};
    union {
        struct cmsghdr header;
        char           bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr all = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t       got = recvmsg(socket, &all, MSG_CMSG_CLOEXEC);
    if (got != (ssize_t)sizeof result) {
        snprintf(reason, reason_bytes, "the process that mounts it was killed");
        return -EIO;
    }
    if (result.err) {
        snprintf(reason, reason_bytes, "%s: %s", step_names[result.step], strerror(result.err));
        return -result.err;
    }
    struct cmsghdr *header = CMSG_FIRSTHDR(&all);
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof(int))) {
        snprintf(reason, reason_bytes, "no descriptor is free");
        return -EMFILE;
    }
    int fd;
    memcpy(&fd, CMSG_DATA(header), sizeof fd);
    return fd;
}

/*
 * Start the child. It has no exit signal: no SIGCHLD reaches a handler of the program, SIG_IGN does not take its status from us,
 * and a waitpid(-1) of the program does not see it. All signals are blocked in it, so no handler of the program runs there.
 */
static pid_t helper_start(const struct helper_task *task)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    long pid = syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL); /* a fork; all zero, so the order of arguments does not matter */
    if (pid == 0) helper_child(task);
    int err = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = err;
    return (pid_t)pid;
}

/* End the child and collect it. One that hangs in the kernel is left to the kernel after HELPER_END_MS_MAX. */
static void helper_end(pid_t pid)
{
    int64_t end_ns = shmemi_now_ns() + (int64_t)HELPER_END_MS_MAX * 1000000;
    long    nap_ns = 20000; /* it has sent its answer, so it is mostly gone at the first look or the second */
    kill(pid, SIGKILL);
    while (shmemi_now_ns() < end_ns) {
        pid_t ended = waitpid(pid, NULL, WNOHANG | __WALL);
        if (ended == pid || (ended < 0 && errno != EINTR)) return;
        nanosleep(&(struct timespec){.tv_nsec = nap_ns}, NULL);
        if (nap_ns < 1000000) nap_ns *= 2;
    }
}

/* By a child in a user namespace of its own. */
static int open_in_namespace(char *reason, size_t reason_bytes)
{
    int                pair[2], fd = -EIO;
    struct helper_task task;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        fd = -errno;
        snprintf(reason, reason_bytes, "socketpair: %s", strerror(errno));
        return fd;
    }
    task.socket = pair[1];
    snprintf(task.uid_map, sizeof task.uid_map, "0 %u 1", (unsigned)geteuid());
    snprintf(task.gid_map, sizeof task.gid_map, "0 %u 1", (unsigned)getegid());
    pid_t pid = helper_start(&task);
    if (pid < 0) {
        fd = -errno;
        snprintf(reason, reason_bytes, "clone: %s", strerror(errno));
    }
    close(pair[1]); /* so that a child that dies early is an end of file */
    if (pid > 0) {
        fd = helper_receive(pair[0], reason, reason_bytes);
        helper_end(pid);
    }
    close(pair[0]);
    return fd;
}

int shmemi_pages_mount_open(char *reason, size_t reason_bytes)
{
    struct helper_result result = {.err = 0};
    int                  fd     = mounted_file(&result);
    if (fd >= 0) return fd;
    if (errno == EPERM) return open_in_namespace(reason, reason_bytes);
    fd = -errno;
    snprintf(reason, reason_bytes, "%s: %s", step_names[result.step], strerror(-fd));
    return fd;
}
