/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * A PE of a job with a unique id that finalizes once more than the others waits for PEs that are gone: it is named, and ends.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize
 */
#include "own.h"

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes, &id, 0), 0);
    if (rank == 2) shmem_init();
    shmem_barrier_all();
    if (rank == 2) shmem_finalize();
    shmem_finalize();
    return api_result();
}

int main(void)
{
    struct own job = own_begin(3, pe);
    own_end(&job);
    own_expect(&job, 2, 1, "PE 2 cannot come to its end");
    return api_result();
}
