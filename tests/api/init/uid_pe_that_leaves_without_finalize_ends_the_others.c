/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * A PE of a job with a unique id that returns from main without shmem_finalize: the others would wait for ever, so they end with status 1 and say who it
 * was.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize
 */
#include "own.h"

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes, &id, 0), 0);
    shmem_barrier_all();
    if (rank == 1) return api_result();
    shmem_finalize();
    return api_result();
}

int main(void)
{
    struct own job = own_begin(3, pe);
    own_end(&job);
    own_expect(&job, 0, 1, "PE 1 is gone");
    own_expect(&job, 1, 0, NULL);
    own_expect(&job, 2, 1, "PE 1 is gone");
    return api_result();
}
