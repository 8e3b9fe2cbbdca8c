/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGUSR2 prints what each thread of the PE waits for, on the heap with its offset, and the PE goes on; where nothing waits
 * it says so. After finalize the signal has its default again.
 * PES: 1 2
 * LINK: pthread
 * OUTPUT: PE 0: waits in shmem_int_wait_until for heap.0x.* >= 3, sees 1, for
 * OUTPUT: PE 0: waits in shmem_int_wait_until_all on 16 bytes from heap.0x.*, for
 * OUTPUT: PE 0: waits in no SHMEM call
 * Spec: none; the design's: a running job can be asked
 */
#include "cpu.h"

#include <pthread.h>
#include <signal.h>

static int *words;

static void *wait_one(void *unused)
{
    shmem_int_wait_until(&words[0], SHMEM_CMP_GE, 3);
    return unused;
}

static void *wait_all(void *unused)
{
    shmem_int_wait_until_all(&words[4], 4, NULL, SHMEM_CMP_EQ, 1);
    return unused;
}

int main(void)
{
    int              level;
    pthread_t        one, all;
    struct sigaction now;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    words = shmem_calloc(8, sizeof *words);
    if (!CHECK(words != NULL)) shmem_global_exit(1);
    if (shmem_my_pe() == 0) {
        raise(SIGUSR2);
        words[0] = 1;
        CHECK_EQUAL(pthread_create(&one, NULL, wait_one, NULL), 0);
        CHECK_EQUAL(pthread_create(&all, NULL, wait_all, NULL), 0);
        sleep_ms(300);
        raise(SIGUSR2);
        shmem_int_atomic_set(&words[0], 3, 0);
        for (int i = 4; i < 8; i++) shmem_int_atomic_set(&words[i], 1, 0);
        CHECK_EQUAL(pthread_join(one, NULL), 0);
        CHECK_EQUAL(pthread_join(all, NULL), 0);
    }
    shmem_barrier_all();
    shmem_finalize();
    CHECK(sigaction(SIGUSR2, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    return api_result();
}
