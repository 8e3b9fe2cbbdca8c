/* SPDX-License-Identifier: Apache-2.0
 *
 * Take a system call away from this process, as a container's filter might.
 */
#ifndef POSTERN_TESTS_REFUSE_MEMBARRIER_H
#define POSTERN_TESTS_REFUSE_MEMBARRIER_H

#include "../api.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* membarrier answers EPERM from now on, in this thread and those it makes. Before shmem_init. */
static inline void refuse_membarrier(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        api_skip("this machine has no seccomp filters");
    if (syscall(SYS_membarrier, 0, 0, 0) != -1 || errno != EPERM) api_skip("the filter does not work here");
}

/* Rounds of ping-pong in which both sides sleep now and then. */
static inline void ping_pong(int rounds)
{
    static long word;
    int         me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_barrier_all();
    for (long round = 1; round <= rounds; round++) {
        if (me == 0) {
            usleep((unsigned)(round % 5) * 100);
            shmem_long_atomic_set(&word, round, next);
            shmem_long_wait_until(&word, SHMEM_CMP_EQ, round);
        } else {
            shmem_long_wait_until(&word, SHMEM_CMP_EQ, round);
            shmem_long_atomic_set(&word, round, next);
        }
    }
    shmem_barrier_all();
}

#endif
