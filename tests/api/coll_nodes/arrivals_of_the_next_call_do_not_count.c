/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls in a row, in which members of several nodes wait for a number of arrivals: what a fast PE sends in the next call is not taken for what a
 * slow way still owes in this one.
 *
 * PES: 6
 * NODES: a:2,b,c
 * ENV: POSTERN_CHAOS_DELAY=200us POSTERN_COLL_COLLECT=push
 * Spec: OpenSHMEM 1.6 §9.10.5 shmem_alltoall, §9.10.8 shmem_fcollect
 */
#include "../coll/movers.h"

enum { TURNS = 150 };

int main(void)
{
    shmem_init();
    struct movers m = movers_create();
    for (int turn = 0; turn < TURNS; turn++) {
        move_fcollect(&m, SHMEM_TEAM_WORLD, 24);
        if (turn % 3 == 0) move_alltoall(&m, SHMEM_TEAM_WORLD, 200);
    }
    movers_destroy(&m);
    shmem_finalize();
    return api_result();
}
