/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * Processes without a launcher become PEs by an allgather function of their own: 1, 2, 3 and 5 of them, twice one after the other, at the thread
 * level that they ask for.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

static void one_job(int rank, int npes)
{
    int                place[2] = {rank, npes}, initialized = 0;
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank               = rank;
    attr.npes               = npes;
    attr.allgather          = own_allgather;
    attr.user               = place;
    attr.thread_requested   = SHMEM_THREAD_MULTIPLE;
    if (!CHECK_EQUAL(shmemx_init_attr(&attr), 0)) return;
    CHECK_EQUAL(attr.thread_provided, SHMEM_THREAD_MULTIPLE);
    own_work(rank, npes);
    shmem_finalize();
    shmem_query_initialized(&initialized);
    CHECK_EQUAL(initialized, 0);
}

static int pe(int rank, int npes)
{
    one_job(rank, npes);
    one_job(rank, npes);
    return api_result();
}

int main(void)
{
    static const int sizes[] = {1, 2, 3, 5};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct own job = own_begin(sizes[i], pe);
        own_end(&job);
        for (int rank = 0; rank < sizes[i]; rank++) own_expect(&job, rank, 0, NULL);
    }
    return api_result();
}
