/* SPDX-License-Identifier: Apache-2.0
 *
 * B44: a fork of a PE is no PE. Its shmem_global_exit ends the child, with that status; its shmem_finalize does nothing.
 */
#include "../api/api.h"

#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int how = 0;
    shmem_init();
    pid_t pid = fork();
    if (pid == 0) shmem_global_exit(9);
    CHECK_EQUAL(waitpid(pid, &how, 0), pid);
    CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 9);
    shmem_barrier_all();

    pid = fork();
    if (pid == 0) {
        int initialized = 1;
        shmem_finalize();
        shmem_query_initialized(&initialized);
        _exit(initialized ? 8 : 0);
    }
    CHECK_EQUAL(waitpid(pid, &how, 0), pid);
    CHECK_EQUAL(how, 0);
    for (int i = 0; i < 5; i++) shmem_barrier_all();
    shmem_finalize();
    return api_result();
}
