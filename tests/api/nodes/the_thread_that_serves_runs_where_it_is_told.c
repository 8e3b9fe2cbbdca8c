/* SPDX-License-Identifier: Apache-2.0
 *
 * POSTERN_PROGRESS_CPUS=0: of the threads of a PE the one that serves others runs on CPU 0 alone, those of the program wherever they may.
 * Spec: none; the standard knows no threads of the library
 * ENV: POSTERN_PROGRESS_CPUS=0 POSTERN_CHAOS_LAZY=1 POSTERN_REPORT=1
 * NODES: a,b
 * PES: 2
 * OUTPUT: on CPUs 0 .POSTERN_PROGRESS_CPUS.
 */
#include "nodes.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* Threads that may run on CPU 0 and nowhere else. */
static int bound_threads(void)
{
    int  count = 0;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        cpu_set_t set;
        pid_t     tid = (pid_t)atoi(task->d_name);
        if (tid > 0 && sched_getaffinity(tid, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1 && CPU_ISSET(0, &set)) count++;
    }
    if (tasks) closedir(tasks);
    return count;
}

int main(void)
{
    cpu_set_t before, after;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    shmem_init();
    shmem_barrier_all();
    if (CPU_COUNT(&before) > 1 && CPU_ISSET(0, &before)) {
        for (int i = 0; i < 1000 && bound_threads() == 0; i++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        CHECK_EQUAL(bound_threads(), 1);
    }
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
    shmem_finalize();
    return api_result();
}
