/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 *
 * shmem_global_exit on one PE of a job with a unique id ends all, with its status and without a message, whatever they do: 0 too, and from rank 0
 * too, which serves the others.
 * Spec: OpenSHMEM 1.6 §9.1.6 shmem_global_exit
 */
#include "own.h"

static int who, status;

static int pe(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes, &id, 0), 0);
    shmem_barrier_all();
    if (rank == who) shmem_global_exit(status);
    if (rank == npes - 1)
        for (;;) usleep(1000);
    shmem_barrier_all();
    return 3;
}

static void end_by(int rank, int with)
{
    who            = rank;
    status         = with;
    struct own job = own_begin(4, pe);
    own_end(&job);
    for (rank = 0; rank < 4; rank++) own_expect(&job, rank, with, NULL);
}

int main(void)
{
    end_by(0, 5);
    end_by(0, 0);
    end_by(2, 6);
    return api_result();
}
