/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * Processes without a launcher become PEs by a unique id of rank 0: 1, 2, 3 and 5 of them, twice one after the other with an id each. They
 * find each other's memory, as the report shows.
 * Spec: none; shmemx_init_attr is an extension
 */
#include "own.h"

static int pe(int rank, int npes)
{
    for (int round = 0; round < 2; round++) {
        shmemx_uniqueid_t id = own_id(rank);
        if (!CHECK_EQUAL(own_init(rank, npes, &id, 0), 0)) break;
        for (int other = 0; other < npes; other++) CHECK(shmem_ptr(&round, other) == NULL);
        void *block = shmem_malloc(64);
        for (int other = 0; other < npes; other++) CHECK(shmem_ptr(block, other) != NULL);
        shmem_free(block);
        own_work(rank, npes);
        if (rank == 0) own_page->id_there = 0; /* the others read it before they came here */
        shmem_barrier_all();
        shmem_finalize();
    }
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
