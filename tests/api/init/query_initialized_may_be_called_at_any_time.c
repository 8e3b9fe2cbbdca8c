/* SPDX-License-Identifier: Apache-2.0
 *
 * LINK: pthread
 *
 * shmem_query_initialized is legal before init, between, after finalize, by any thread; nonzero while an init is unmatched.
 * Spec: OpenSHMEM 1.6 §9.1.5 shmem_query_initialized
 */
#include "../api.h"

#include <pthread.h>

static void *ask(void *answer)
{
    shmem_query_initialized(answer);
    return NULL;
}

static void expect(bool wanted)
{
    int       here = -7, there = -7;
    pthread_t thread;
    shmem_query_initialized(&here);
    CHECK_EQUAL(here != 0, wanted);
    CHECK(here != -7);
    if (!CHECK_EQUAL(pthread_create(&thread, NULL, ask, &there), 0)) return;
    pthread_join(thread, NULL);
    CHECK_EQUAL(there, here);
}

int main(void)
{
    int provided;
    expect(false);
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    expect(true);
    shmem_init();
    expect(true);
    shmem_finalize();
    expect(true);
    shmem_finalize();
    expect(false);
    shmem_init();
    expect(true);
    shmem_finalize();
    expect(false);
    return api_result();
}
