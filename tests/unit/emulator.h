/* SPDX-License-Identifier: Apache-2.0
 *
 * What an emulator of system calls (qemu-user) promises and does not do. Each question tries the very thing: a kernel never gives
 * these answers, so on a real machine nothing is left out.
 */
#ifndef SHMEMI_UNIT_EMULATOR_H
#define SHMEMI_UNIT_EMULATOR_H

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EMULATED_ADVICE "an emulator takes every advice of madvise and follows none"
#define EMULATED_LIMIT  "an emulator takes a limit of address space and does not keep it"
#define EMULATED_CLONE  "an emulator knows no child without an exit signal"

/* A kernel refuses an advice that does not exist. */
static inline bool emulator_ignores_advice(void)
{
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void  *page       = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool   accepted   = page != MAP_FAILED && madvise(page, page_bytes, 0x5eed) == 0;
    if (page != MAP_FAILED) munmap(page, page_bytes);
    return accepted;
}

/* A kernel that has taken a limit shows it. In a child, as a lowered limit may stay. */
static inline bool emulator_ignores_address_space_limit(void)
{
    int   status = 0;
    pid_t pid    = fork();
    if (pid == 0) {
        struct rlimit limit, shown;
        if (getrlimit(RLIMIT_AS, &limit) != 0) _exit(0);
        limit.rlim_cur = (rlim_t)1 << 40; /* room for the rest of this child's life */
        if (setrlimit(RLIMIT_AS, &limit) != 0 || getrlimit(RLIMIT_AS, &shown) != 0) _exit(0);
        _exit(shown.rlim_cur != limit.rlim_cur);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

/* A kernel starts a child whose end sends no signal, or forbids it, but never calls that invalid. */
static inline bool emulator_refuses_silent_child(void)
{
    long pid = syscall(SYS_clone, 0UL, NULL, NULL, NULL, 0UL);
    if (pid == 0) {
        for (;;) syscall(SYS_exit_group, 0);
    }
    if (pid < 0) return errno == EINVAL;
    waitpid((pid_t)pid, NULL, __WALL);
    return false;
}

#endif
