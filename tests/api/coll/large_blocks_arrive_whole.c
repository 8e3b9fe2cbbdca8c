/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives with blocks about 1 MiB, from where on fcollect and collect push pieces: every byte is at its place, and none beside.
 *
 * PES: 1 2 3 5 8
 * ENV: SHMEM_SYMMETRIC_SIZE=32M POSTERN_CHAOS_DELAY=1us
 * NOSIMVERBS: the smaller blocks go the same ways there
 * NOVALGRIND: moves much
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.7 shmem_broadcast, §9.10.8 shmem_collect, shmem_fcollect
 */
#define MOVERS_ROOM_BYTES (10 << 20)
#include "movers.h"

static const size_t sizes[] = {(1 << 20) - 1, 1 << 20, (1 << 20) + 70001};

int main(void)
{
    shmem_init();
    struct movers m = movers_create();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        move_broadcast(&m, SHMEM_TEAM_WORLD, sizes[i], shmem_n_pes() - 1);
        move_fcollect(&m, SHMEM_TEAM_WORLD, sizes[i]);
        move_collect(&m, SHMEM_TEAM_WORLD, sizes[i]);
        move_alltoall(&m, SHMEM_TEAM_WORLD, sizes[i]);
    }
    CHECK_EQUAL(m.calls, 3 * 4);
    movers_destroy(&m);
    shmem_finalize();
    return api_result();
}
