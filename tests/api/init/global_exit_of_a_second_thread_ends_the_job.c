/* SPDX-License-Identifier: Apache-2.0
 *
 * LINK: pthread
 * STATUS: 44
 * NOOUTPUT: came back
 *
 * shmem_global_exit ends the job whatever the PEs do. Here the caller's own main thread waits too: in a barrier that cannot complete.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "busy.h"

#include <pthread.h>

static void *end_job(void *unused)
{
    busy_others_begin();
    shmem_global_exit(44);
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        pthread_create(&thread, NULL, end_job, NULL);
        busy_at(1);
    }
    busy();
    return 9;
}
