/* SPDX-License-Identifier: Apache-2.0
 *
 * OUTPUT: shmem_init_thread: -1 is no thread level
 * OUTPUT: shmem_init_thread: 4 is no thread level
 *
 * Nonzero on failure. The refusal says which levels there are, and changes nothing.
 * Spec: OpenSHMEM 1.6 §9.2.1 shmem_init_thread
 */
#include "../api.h"

static void refuse(int level, int initialized_wanted)
{
    int provided = 77, initialized;
    CHECK(shmem_init_thread(level, &provided) != 0);
    CHECK_EQUAL(provided, 77);
    shmem_query_initialized(&initialized);
    CHECK_EQUAL(initialized != 0, initialized_wanted);
}

int main(void)
{
    int provided;
    refuse(-1, 0);
    refuse(4, 0);
    CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_SERIALIZED, &provided), 0);
    refuse(INT32_MAX, 1);
    shmem_barrier_all();
    shmem_finalize(); /* the refused ones do not count */
    shmem_query_initialized(&provided);
    CHECK_EQUAL(provided, 0);
    return api_result();
}
