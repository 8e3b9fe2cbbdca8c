/* SPDX-License-Identifier: Apache-2.0
 *
 * Where mounting, user namespaces or new processes are refused, as container engines do by seccomp, auto gives small pages and says
 * why, and asking for that kind by name is an error that says why.
 */
#include "runtime/pages.h"

#include "runtime/base/options.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)

/* From here on the system call gives EPERM. Filters add up. */
static bool refuse(unsigned number)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof code[0], .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void check_refused(const char *reason)
{
    struct shmemi_pages pages;
    CHECK_EQ_I64(shmemi_pages_create(SHMEMI_PAGES_AUTO, 64 * MIB, 64 * MIB, &pages), 0);
    printf("%s: %s\n", pages.kind, pages.detail);
    CHECK(strcmp(pages.kind, "tmpfs-huge") != 0);
    if (strcmp(pages.kind, "small") == 0) CHECK_HAS(pages.detail, reason);
    close(pages.fd);
    pages.fd = -1;
    CHECK(shmemi_pages_create(SHMEMI_PAGES_TMPFS, 64 * MIB, 64 * MIB, &pages) < 0);
    CHECK_EQ_I64(pages.fd, -1);
    CHECK(waitpid(-1, NULL, WNOHANG | __WALL) == -1 && errno == ECHILD);
}

/* Filters stay, and a leak checker needs clone at its end: so all of this is in a process that ends without one. */
static int check_in_child(void)
{
    struct shmemi_pages pages;
    if (shmemi_pages_create(SHMEMI_PAGES_TMPFS, 64 * MIB, 64 * MIB, &pages) != 0)
        return unit_skip("this machine refuses it anyway");
    close(pages.fd);
    if (!refuse(SYS_unshare) || !refuse(SYS_fsmount)) return unit_skip("no seccomp filters here");
    check_refused("user namespace: Operation not permitted");
    CHECK(refuse(SYS_fsopen));
    check_refused("user namespace: Operation not permitted");
    CHECK(refuse(SYS_clone));
    check_refused("clone: Operation not permitted");
    return unit_result();
}

int main(void)
{
    int   status = -1;
    pid_t pid    = fork();
    if (pid == 0) {
        int result = check_in_child();
        fflush(stdout);
        _exit(result);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
