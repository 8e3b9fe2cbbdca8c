/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 1 2 3
 *
 * The exit handler of start_pes is for the PE. A forked child inherits it, and its exit must neither wait for PEs nor arrive in their barrier.
 * Spec: OpenSHMEM 1.6 §9.1.13 start_pes.
 */
#include "../api.h"

#include <sys/wait.h>
#include <unistd.h>

enum { GUARD_S = 30 };

static long word;

int main(void)
{
    int status = -1;
    start_pes(0);
    api_pe();
    int me = shmem_my_pe(), n = shmem_n_pes();
    for (int round = 1; round <= 3; round++) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(GUARD_S);
            exit(3);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status));
        CHECK_EQUAL(WEXITSTATUS(status), 3);
        shmem_long_p(&word, round, (me + 1) % n);
        shmem_barrier_all(); /* one that came too early would let a PE read too early */
        CHECK_EQUAL(word, round);
        shmem_barrier_all();
    }
    return api_result();
}
