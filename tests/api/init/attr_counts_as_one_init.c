/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * shmemx_init_attr, shmem_init and shmem_init_thread nest as inits do: the last finalize ends the job. Another rank or size than the running
 * job's is refused. After the end a plain shmem_init_thread is refused too, as it does not know how to join again, and another
 * shmemx_init_attr is not.
 * Spec: OpenSHMEM 1.6 §9.1.1 shmem_init, §9.1.4 shmem_finalize
 */
#include "own.h"

static int pe(int rank, int npes)
{
    int                place[2] = {rank, npes}, provided = -1, initialized = 0;
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank               = rank;
    attr.npes               = npes;
    attr.allgather          = own_allgather;
    attr.user               = place;
    attr.thread_requested   = SHMEM_THREAD_SERIALIZED;
    CHECK_EQUAL(shmemx_init_attr(&attr), 0);
    shmem_init();
    CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided), 0);
    CHECK_EQUAL(provided, SHMEM_THREAD_SERIALIZED);
    attr.thread_requested = SHMEM_THREAD_SINGLE;
    CHECK_EQUAL(shmemx_init_attr(&attr), 0);
    CHECK_EQUAL(attr.thread_provided, SHMEM_THREAD_SERIALIZED);
    attr.rank = (rank + 1) % npes;
    CHECK_EQUAL(shmemx_init_attr(&attr), -EINVAL);
    attr.rank = rank;
    attr.npes = npes + 1;
    CHECK_EQUAL(shmemx_init_attr(&attr), -EINVAL);
    attr.npes = npes;
    for (int left = 4; left > 0; left--) {
        shmem_query_initialized(&initialized);
        CHECK_EQUAL(initialized, 1);
        own_work(rank, npes);
        shmem_finalize();
    }
    shmem_query_initialized(&initialized);
    CHECK_EQUAL(initialized, 0);
    CHECK(shmem_init_thread(SHMEM_THREAD_SINGLE, &provided) != 0);
    CHECK_EQUAL(shmemx_init_attr(&attr), 0);
    own_work(rank, npes);
    shmem_finalize();
    return api_result();
}

int main(void)
{
    struct own job = own_begin(2, pe);
    own_end(&job);
    for (int rank = 0; rank < 2; rank++) {
        own_expect(&job, rank, 0, "runs already, as PE");
        own_expect(&job, rank, 0, "cannot start again by shmem_init");
    }
    return api_result();
}
